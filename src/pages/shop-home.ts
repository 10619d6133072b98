import type { App } from '../app.ts'
import { isOpen } from './storefront-settings.ts'

/** The address of the shop's front page: the storefront, else the first site of SHOPSTEAD_ORIGINS; null without both. */
export function shopHome(app: App): string | null {
  if (isOpen(app)) return '/'
  return app.config.origins[0] ?? null
}

/** The link of a page on which nothing else can be done. */
export function homeLinks(app: App): { label: string; url: string }[] {
  const url = shopHome(app)
  return url === null ? [] : [{ label: 'Go to the shop', url }]
}
