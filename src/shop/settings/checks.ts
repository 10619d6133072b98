import { Cron } from 'croner'

/** Whether text is the address of products, with {slug} and perhaps {publicUrl} in front. */
export function isProductUrl(template: string): boolean {
  const filled = template.replace(/^\{publicUrl\}/, 'https://shop.example').replaceAll('{slug}', 'mug')
  return template.includes('{slug}') && /^https?:\/\/[^\s\p{C}]+$/u.test(filled) && URL.canParse(filled)
}

/** Whether text is the address of a page with {token} or {orderToken} behind its host, and perhaps {publicUrl} in front. */
export function isPageUrl(template: string, placeholder: 'token' | 'orderToken'): boolean {
  const sample = 'vE9hN3sample'
  const filled = template.replace(/^\{publicUrl\}/, 'https://shop.example').replaceAll(`{${placeholder}}`, sample)
  if (!/^https?:\/\/[^\s\\{}\p{C}]+$/iu.test(filled) || !isWebAddress(filled)) return false
  const { pathname, search, hash } = new URL(filled)
  return `${pathname}${search}${hash}`.includes(sample)
}

/** Whether text is a web origin, such as https://www.example.com. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
}

/** Whether text is CARRIER=URL, where the URL contains {tracking}. */
export function isTrackingUrl(text: string): boolean {
  const [, template = ''] = /^[^=\p{C}]{1,50}=(https?:\/\/[^\s\p{C}]{1,2000})$/u.exec(text) ?? []
  return template.includes('{tracking}') && URL.canParse(template.replaceAll('{tracking}', '1'))
}

/** Whether text is an http or https URL without credentials, or empty. */
export function isWebAddress(value: string): boolean {
  if (value === '') return true
  const url = /^https?:\/\/[^\s\\\p{C}]+$/iu.test(value) ? URL.parse(value) : null
  return url !== null && url.username === '' && url.password === ''
}

/** Whether the runtime knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

/** Whether the runtime knows a language tag. */
export function isLanguage(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length === 1
  } catch {
    return false
  }
}

/** Whether text is a cron expression, or empty. */
export function isCronExpression(text: string): boolean {
  if (text === '') return true
  try {
    return new Cron(text, { paused: true }).nextRun() !== null
  } catch {
    return false
  }
}
