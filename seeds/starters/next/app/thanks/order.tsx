'use client'

import type { BuyerOrder } from '@shopstead/client'
import Link from 'next/link'
import { useEffect, useState } from 'react'
import { messageOf, shop } from '@/lib/browser-shop'
import { emptyIfPlaced } from '@/lib/cart'
import { money } from '@/lib/money'

type Known = { order: BuyerOrder; canPay: boolean; payUrl: string | null }

/** The order that the buyer comes back from. Its token is taken out of the page's address. */
export function Order() {
  const [known, setKnown] = useState<Known>()
  const [error, setError] = useState('')

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    async function load(waitMs: number) {
      try {
        const answer = await shop.payments.finish(location)
        setKnown(answer)
        const { order, canPay, orderToken } = answer
        const isOpen = order.status === 'pending'
        if (!isOpen && order.status !== 'failed' && order.status !== 'cancelled') emptyIfPlaced(orderToken)
        // The bank has not answered yet.
        if (isOpen && !canPay) timer = setTimeout(() => load(Math.min(waitMs * 2, 30_000)), waitMs)
      } catch (cause) {
        setError(messageOf(cause))
      }
    }
    void load(2_000)
    return () => clearTimeout(timer)
  }, [])

  if (error) return <h1>{error}</h1>
  if (known === undefined) return <h1>One moment …</h1>
  const { order, payUrl } = known
  const isPaid = ['processing', 'completed'].includes(order.status)
  const isOver = ['failed', 'cancelled'].includes(order.status)
  return (
    <>
      <h1>{isPaid ? 'Thank you for your order' : isOver ? 'The payment did not go through' : 'Your order'}</h1>
      <p>
        Order {order.id}, {money(order.total, order.currency)}
      </p>
      <ul>
        {order.lineItems.map(({ name, quantity }) => (
          <li key={name}>
            {quantity} × {name}
          </li>
        ))}
      </ul>
      {payUrl !== null && (
        <a className="button" href={payUrl}>
          Pay now
        </a>
      )}
      <p>
        <Link href="/account">Your orders</Link> · <Link href="/">More products</Link>
      </p>
    </>
  )
}
