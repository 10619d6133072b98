import { createClient } from '@shopstead/client'
import { shopUrl } from './site'

/** The shop for pages that are the same for every visitor. */
export const shop = createClient({ baseUrl: `${shopUrl}/api/v1` })

/** How long a page may show products as they were. */
export const fresh = { next: { revalidate: 60 } }
