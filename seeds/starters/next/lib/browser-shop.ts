'use client'

import { createClient } from '@shopstead/client'
import { site } from './site'

/**
 * The shop for scripts. Requests go through this site's own proxy, so the session belongs to this site. What the shop says,
 * orders and emails are in the language of this site.
 */
export const shop = createClient({ headers: { 'accept-language': site.language } })

/** A message for the person who reads it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong. Try again.'
}
