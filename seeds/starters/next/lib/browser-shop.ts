'use client'

import { createClient } from '@shopstead/client'

/** The shop for scripts. Requests go through this site's own proxy, so the session belongs to this site. */
export const shop = createClient()

/** A message for the person who reads it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong. Try again.'
}
