import type { Metadata } from 'next'
import { Order } from './order'

export const metadata: Metadata = { title: 'Your order', robots: { index: false } }

/** Where buyers come back to from the payment page. */
export default async function ThanksPage({ searchParams }: { searchParams: Promise<{ orderToken?: string }> }) {
  const { orderToken = '' } = await searchParams
  return <Order token={orderToken} />
}
