export const introduction = `
The API of a Shopstead shop: accounts, offers, checkout, orders and affiliates.

**Responses.** A success is \`{data, meta}\`, an error is \`{error: {code, message, details}, meta}\`. Programs read \`code\`;
\`message\` is for people. Within v1, responses may gain fields and there may be new codes.

**Addresses.** A web page sends requests to the first-party proxy on its own site, so that the session cookie belongs to
the site. The proxy forwards only the endpoints of this description, and it drops the query parameters that are marked as
dropped. A server may send requests to the service itself.

**Nonce.** Fetch a nonce from \`GET /nonce\` and send it as \`X-Nonce\` with each request that requires one. On 403
CSRF_FAILED with reason \`invalid_nonce\`, fetch a new one and send the request again, once. Also fetch a new one after a
logout. A proxy of your own can leave the check to the service by sending \`X-Shopstead-Proxy: 1\`.

**Methods.** HEAD works wherever GET does. Other methods are 405 with \`Allow\`. An unknown path is 404. An invalid Host
header is 400 VALIDATION_FAILED on every path.

**Headers.** Beside those that each endpoint describes, a response has \`Content-Type\`, \`X-Content-Type-Options\`, over
https \`Strict-Transport-Security\`, and what HTTP itself needs, such as \`Date\` and \`Content-Length\`.
`.trim()

export const tags: readonly { name: string; description: string; areas: readonly string[] }[] = [
  { name: 'Accounts', description: 'Registration, sessions and profiles.', areas: ['auth', 'me'] },
  { name: 'Store', description: 'Offers, checkout and orders.', areas: ['store', 'orders'] },
  { name: 'Affiliates', description: 'Referrals and their accounts.', areas: ['affiliates'] },
  { name: 'Service', description: 'The nonce, the status of the service, and webhooks.', areas: [] },
  { name: 'Events', description: 'What the shop sends to webhooks.', areas: [] }
]
