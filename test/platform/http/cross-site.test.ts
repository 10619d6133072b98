import { expect, test } from 'vitest'
import { isCrossSite, refuseOtherSite, type SiteClues } from '../../../src/platform/http/cross-site.ts'

const plain: SiteClues = {
  method: 'POST',
  secFetchSite: null,
  origin: null,
  hosts: ['api.shop.example'],
  publicUrl: 'https://shop.example/store',
  origins: ['https://www.partner.example', 'https://partner.example:8443/'],
  development: false
}

test.each<[rule: string, clues: Partial<SiteClues>, refused: boolean]>([
  ['a request that says nothing passes', {}, false],
  ['same-origin passes', { secFetchSite: 'same-origin', origin: 'https://evil.example' }, false],
  ['none passes', { secFetchSite: 'none' }, false],
  ['cross-site does not', { secFetchSite: 'cross-site' }, true],
  [
    'cross-site does not, even with a known Origin',
    { secFetchSite: 'cross-site', origin: 'https://shop.example' },
    true
  ],
  ['same-site goes by a known Origin', { secFetchSite: 'same-site', origin: 'https://shop.example' }, false],
  ['same-site goes by an unknown Origin', { secFetchSite: 'same-site', origin: 'https://blog.shop.example' }, true],
  ['same-site without an Origin does not pass', { secFetchSite: 'same-site' }, true],
  ['an unknown word does not pass', { secFetchSite: 'same-origin, cross-site', origin: 'https://shop.example' }, true],
  ['the public URL’s Origin passes', { origin: 'https://shop.example' }, false],
  ['the public URL’s host on another scheme does not', { origin: 'http://shop.example' }, true],
  ['the Host’s own Origin passes', { origin: 'https://api.shop.example' }, false],
  ['the Host’s own Origin passes over http', { origin: 'http://api.shop.example' }, false],
  [
    'the Host may name the default port',
    { origin: 'https://api.shop.example', hosts: ['api.shop.example:443'] },
    false
  ],
  ['another port of the Host does not', { origin: 'https://api.shop.example:8443' }, true],
  ['case does not matter', { origin: 'HTTPS://API.Shop.example', hosts: ['api.SHOP.example'] }, false],
  ['a configured Origin passes', { origin: 'https://www.partner.example' }, false],
  ['a configured Origin with a port passes', { origin: 'https://partner.example:8443' }, false],
  ['an unknown Origin does not', { origin: 'https://evil.example' }, true],
  ['a null Origin does not', { origin: 'null' }, true],
  ['an empty Origin does not', { origin: '' }, true],
  ['an Origin that only begins like a known one does not', { origin: 'https://shop.example.evil.example' }, true],
  ['an Origin with credentials does not', { origin: 'https://shop.example@evil.example' }, true],
  ['an Origin with a path does not', { origin: 'https://shop.example/' }, true],
  ['two Origins joined do not', { origin: 'https://shop.example, https://evil.example' }, true],
  ['a Host that hides another does not', { origin: 'https://evil.example', hosts: ['api@evil.example'] }, true],
  ['loopback does not pass in production', { origin: 'http://localhost:5173' }, true],
  ['loopback passes in development', { origin: 'http://localhost:5173', development: true }, false],
  ['loopback by IPv4 passes in development', { origin: 'http://127.0.0.1:5173', development: true }, false],
  ['loopback by IPv6 passes in development', { origin: 'http://[::1]:5173', development: true }, false],
  ['any loopback by IPv4 passes in development', { origin: 'http://127.12.34.56', development: true }, false],
  ['a name on loopback passes in development', { origin: 'http://shop.localhost:5173', development: true }, false],
  ['what ends like loopback does not', { origin: 'http://evil.127.0.0.1.example', development: true }, true],
  ['what only begins like localhost does not', { origin: 'http://localhost.evil.example', development: true }, true],
  ['a page of an app does not, even on loopback', { origin: 'ftp://localhost', development: true }, true],
  ['a Host with a path does not', { origin: 'https://evil.example', hosts: ['evil.example/path'] }, true],
  ['what looks like loopback does not', { origin: 'http://127.0.0.1.evil.example', development: true }, true],
  [
    'same-site from loopback passes in development',
    { secFetchSite: 'same-site', origin: 'http://localhost:5173', development: true },
    false
  ],
  [
    'a GET passes with any headers',
    { method: 'GET', secFetchSite: 'cross-site', origin: 'https://evil.example' },
    false
  ],
  ['a HEAD passes like a GET', { method: 'HEAD', secFetchSite: 'cross-site' }, false],
  ['an OPTIONS passes like a GET', { method: 'OPTIONS', secFetchSite: 'cross-site' }, false],
  ['a PATCH is checked like a POST', { method: 'PATCH', origin: 'https://evil.example' }, true]
])('%s', (_rule, clues, refused) => {
  expect(isCrossSite({ ...plain, ...clues })).toBe(refused)
})

test.each<[rule: string, clues: Partial<SiteClues>, message: string]>([
  [
    'names an origin that SHOPSTEAD_ORIGINS could allow',
    { secFetchSite: 'same-site', origin: 'https://blog.shop.example' },
    'This request came from another site: https://blog.shop.example. If it is your site, add the origin to SHOPSTEAD_ORIGINS, or to the origins of createProxy.'
  ],
  [
    'does not advise a setting that cannot help',
    { secFetchSite: 'cross-site', origin: 'https://evil.example' },
    'This request came from another site: https://evil.example. A page can send it only through the proxy on its own site.'
  ],
  [
    'does not repeat text that is not an origin',
    { origin: '<b>' },
    'This request came from another site. A page can send it only through the proxy on its own site.'
  ]
])('the refusal %s', (_rule, clues, message) => {
  expect(() => refuseOtherSite({ ...plain, ...clues })).toThrow(message)
})
