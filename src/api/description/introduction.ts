export const introduction = `
The API of a Shopstead shop: accounts, offers, checkout, orders and affiliates.

**Answers.** A success is \`{data, meta}\`, a refusal \`{error: {code, message, details}, meta}\`. Go by \`code\`; \`message\`
is for a person. Within v1 answers may gain fields, and codes may be added.

**Where to send.** A web page sends to the first-party proxy, on its own site, so that the session cookie is the site's
own. The proxy forwards these addresses and no others, and only the query parameters that it does not say it drops.
A server may ask the service itself.

**Nonce.** Fetch one from \`GET /nonce\` and send it as \`X-Nonce\` with each request that needs one. On 403 CSRF_FAILED
with reason \`invalid_nonce\` fetch a new one and send the request once more. Fetch a new one after a logout too.
A proxy of one's own leaves the verdict to the service by sending \`X-Shopstead-Proxy: 1\` along.

**Methods.** HEAD works where GET does; anything else is 405 with \`Allow\`. An address that is not listed is 404.
A Host header that names no host is 400 VALIDATION_FAILED everywhere.
`.trim()

export const tags: readonly { name: string; description: string; areas: readonly string[] }[] = [
  { name: 'Accounts', description: 'Registration, sessions and profiles.', areas: ['auth', 'me'] },
  { name: 'Store', description: 'Offers, checkout and orders.', areas: ['store', 'orders'] },
  { name: 'Affiliates', description: 'Referrals and their accounts.', areas: ['affiliates'] },
  { name: 'Service', description: 'The nonce, the state of the service, and what others report to it.', areas: [] }
]
