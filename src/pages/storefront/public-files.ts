import type { Shown, Site, Visit } from './site.ts'
import { link } from './offers-page.ts'
import { PageNotFound } from './site.ts'

const perFile = 1000
const perPage = 100

/** The address of each file of the sitemap (https://www.sitemaps.org/protocol.html). */
export async function sitemapIndex({ client, site }: Visit): Promise<Shown> {
  const { pagination } = await client.get('/store/products', { query: { perPage: 1 } })
  const files = Array.from({ length: Math.max(1, Math.ceil(pagination.total / perFile)) }, (_, index) => index + 1)
  const entries = files.map((file) => `<sitemap><loc>${site.publicUrl}/sitemap-${file}.xml</loc></sitemap>`)
  return xml(`<sitemapindex xmlns="${namespace}">${entries.join('')}</sitemapindex>`)
}

/** The addresses of a thousand products; the first file also has the front page and the categories. */
export async function sitemap({ client, site, param }: Visit): Promise<Shown> {
  const file = Number(param)
  const urls = file === 1 ? await frontUrls(client, site) : []
  for (let page = (file - 1) * (perFile / perPage) + 1; page <= file * (perFile / perPage); page += 1) {
    const { products, pagination } = await client.get('/store/products', { query: { page, perPage } })
    urls.push(...products.filter(({ url }) => url.startsWith(`${site.publicUrl}/`)))
    if (page >= pagination.totalPages) break
  }
  return xml(`<urlset xmlns="${namespace}">${urls.map(toUrl).join('')}</urlset>`)
}

/** A page of the sitemap, and when it last changed; null if that is not known. */
type Mapped = { url: string; updatedAt: string | null }

function toUrl({ url, updatedAt }: Mapped): string {
  return `<url><loc>${escaped(url)}</loc>${updatedAt === null ? '' : `<lastmod>${updatedAt}</lastmod>`}</url>`
}

/**
 * What search engines may read: every page, also those of one person, because a page that is closed here can be listed by
 * its address, and only a page that can be read says `noindex`.
 */
export function robots({ site }: Visit): Shown {
  const lines = ['User-agent: *', 'Disallow: /api/', '', `Sitemap: ${site.publicUrl}/sitemap.xml`]
  return { text: `${lines.join('\n')}\n`, type: 'text/plain; charset=utf-8' }
}

/** What a device shows for a page that its user put on the home screen (https://www.w3.org/TR/appmanifest/). */
export function manifest({ site }: Visit): Shown {
  const { name, tagline, lang, logoUrl, accentColor } = site
  const file = {
    name,
    short_name: name,
    ...(tagline === '' ? {} : { description: tagline }),
    lang,
    start_url: '/',
    scope: '/',
    display: 'browser',
    ...(accentColor === '' ? {} : { theme_color: accentColor }),
    ...(logoUrl === '' ? {} : { icons: [{ src: logoUrl, sizes: 'any' }] })
  }
  return { text: JSON.stringify(file), type: 'application/manifest+json; charset=utf-8' }
}

const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'

async function frontUrls(client: Visit['client'], { publicUrl }: Site): Promise<Mapped[]> {
  const { categories } = await client.get('/store/categories')
  const lists = categories.map(({ slug, updatedAt }) => ({ url: `${publicUrl}${link({ category: slug })}`, updatedAt }))
  return [{ url: `${publicUrl}/`, updatedAt: null }, ...lists]
}

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function xml(content: string): Shown {
  return { text: `<?xml version="1.0" encoding="UTF-8"?>${content}`, type: 'application/xml; charset=utf-8' }
}

type Colour = [number, number, number]

const light = { paper: [247, 237, 221], towards: [0, 0, 0] } satisfies Record<string, Colour>
const dark = { paper: [44, 33, 23], towards: [255, 255, 255] } satisfies Record<string, Colour>
/** WCAG 2.2, 1.4.3. */
const leastContrast = 4.6

/**
 * The style that replaces the pages' accent colour. The colour is made darker on light paper and lighter on dark paper until
 * text in it can be read. It has an address of its own, because the content security policy allows no inline style.
 *
 * @param colour six hexadecimal digits
 */
export function theme(colour: string): Shown {
  if (!/^[0-9a-f]{6}$/.test(colour)) throw new PageNotFound()
  const part = (at: number): number => Number.parseInt(colour.slice(at, at + 2), 16)
  const accent: Colour = [part(0), part(2), part(4)]
  const css = `${rule(readable(accent, light), [255, 255, 255])}
@media (prefers-color-scheme: dark) { ${rule(readable(accent, dark), [20, 14, 8])} }
`
  return { text: css, type: 'text/css; charset=utf-8' }
}

function rule(colour: Colour, on: Colour): string {
  return `:root { --ember: ${css(colour)}; --ember-deep: ${css(colour)}; --on-ember: ${css(on)}; }`
}

const css = (colour: Colour): string => `rgb(${colour.map(Math.round).join(' ')})`

function readable([red, green, blue]: Colour, { paper, towards }: typeof light): Colour {
  const [toRed, toGreen, toBlue] = towards
  for (let share = 0; share < 1; share += 0.05) {
    const mix = (part: number, end: number): number => part + (end - part) * share
    const mixed: Colour = [mix(red, toRed), mix(green, toGreen), mix(blue, toBlue)]
    if (contrast(mixed, paper) >= leastContrast) return mixed
  }
  return towards
}

function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** WCAG's relative luminance. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
