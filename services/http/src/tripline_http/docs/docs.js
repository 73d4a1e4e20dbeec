// The API's documentation, from the document that the service serves. A key that is typed in here stays in this page.

const { SwaggerUIBundle } = globalThis;

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
});
