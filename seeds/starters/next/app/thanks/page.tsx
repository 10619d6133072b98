import type { Metadata } from 'next'
import { Order } from './order'

export const metadata: Metadata = { title: 'Your order', robots: { index: false }, referrer: 'no-referrer' }

/** Where buyers come back to from the payment page. */
export default function ThanksPage() {
  return <Order />
}
