"""Rules as code: YAML files read into the rules that should be, and the plan that makes them so."""
