// What a program that imports the package itself loads. Its modules have names of their own.
throw new Error(
  "The package shopstead has no main module. Import 'shopstead/client' for the typed client, 'shopstead/proxy' " +
    "for the first-party proxy ('shopstead/proxy/node' for node:http), 'shopstead/webhooks' " +
    "for the shop's events, or 'shopstead/testing' for a shop in your tests. \"npx shopstead --help\" lists the commands."
)
