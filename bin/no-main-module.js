// What a program that imports the package itself loads. Its modules have names of their own.
throw new Error(
  "The package shopstead has no main module. Import 'shopstead/client' for the typed client, 'shopstead/proxy' " +
    "for the first-party proxy ('shopstead/proxy/node' for node:http), or 'shopstead/webhooks' for the shop's events. \"npx shopstead --help\" lists the commands."
)
