'use client'

import { usePathname } from 'next/navigation'
import { useEffect } from 'react'
import { shop } from '@/lib/browser-shop'

/**
 * Stores the affiliate and the campaign of a link to this site, for the checkout.
 * Without it, no affiliate is credited. A site that has to ask first uses captureLanding({ asksConsent: true }) and
 * setTrackingConsent.
 */
export function Landing() {
  const path = usePathname()
  useEffect(() => shop.captureLanding(), [path])
  return null
}
