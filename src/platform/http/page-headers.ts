/**
 * The headers that isolate a page from other sites. A window that another site opened has no reference to the page, and
 * the page uses no device or payment feature of the browser, so a script that gets in cannot ask for one.
 */
export const isolationHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()'
} as const
