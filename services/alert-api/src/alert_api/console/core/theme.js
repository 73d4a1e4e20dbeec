// Light or dark: as the system says, until the user says otherwise.

const CHOICE = "tripline.theme";

export function followTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => localStorage.getItem(CHOICE) ?? (system.matches ? "dark" : "light");
  const apply = () => {
    const theme = current();
    if (localStorage.getItem(CHOICE)) document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    localStorage.setItem(CHOICE, current() === "dark" ? "light" : "dark");
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
