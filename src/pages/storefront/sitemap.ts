import type { Shown, Site, Visit } from './site.ts'
import { link } from './offers-page.ts'

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
    urls.push(...products.map(({ url }) => url).filter((url) => url.startsWith(`${site.publicUrl}/`)))
    if (page >= pagination.totalPages) break
  }
  return xml(
    `<urlset xmlns="${namespace}">${urls.map((url) => `<url><loc>${escaped(url)}</loc></url>`).join('')}</urlset>`
  )
}

/** What search engines may read: everything but the pages of one person. */
export function robots({ site }: Visit): Shown {
  const closed = ['/cart', '/checkout', '/account', '/orders', '/referrals', '/thanks', '/login', '/register', '/api/']
  const lines = [
    'User-agent: *',
    ...closed.map((path) => `Disallow: ${path}`),
    '',
    `Sitemap: ${site.publicUrl}/sitemap.xml`
  ]
  return { text: `${lines.join('\n')}\n`, type: 'text/plain; charset=utf-8' }
}

const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'

async function frontUrls(client: Visit['client'], { publicUrl }: Site): Promise<string[]> {
  const { categories } = await client.get('/store/categories')
  const paths = categories.map(({ slug }) => link({ category: slug }))
  return ['/', ...paths].map((path) => `${publicUrl}${path}`)
}

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function xml(content: string): Shown {
  return { text: `<?xml version="1.0" encoding="UTF-8"?>${content}`, type: 'application/xml; charset=utf-8' }
}
