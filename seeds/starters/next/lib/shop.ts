import { createClient } from '@shopstead/client'
import { shopUrl, site } from './site'

/** The shop for pages that are the same for every visitor. */
export const shop = createClient({
  baseUrl: `${shopUrl}/api/v1`,
  headers: { 'accept-language': site.language }
})

/** How long a page may show products as they were. */
export const fresh = { next: { revalidate: 60 } }
