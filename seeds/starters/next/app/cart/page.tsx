import type { Metadata } from 'next'
import { Cart } from './cart'

export const metadata: Metadata = { title: 'Your cart', robots: { index: false }, referrer: 'no-referrer' }

export default function CartPage() {
  return (
    <>
      <h1>Your cart</h1>
      <Cart />
    </>
  )
}
