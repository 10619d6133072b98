'use client'

import type { Download, Me, Order, OwnSubscription } from '@shopstead/client'
import { isShopError } from '@shopstead/client'
import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { messageOf, shop } from '@/lib/browser-shop'
import { money } from '@/lib/money'
import { site } from '@/lib/site'

type Account = { me: Me; orders: Order[]; subscriptions: OwnSubscription[]; downloads: Download[] }

const dayFormat = new Intl.DateTimeFormat(site.language, { dateStyle: 'long', timeZone: site.timeZone })
const day = (iso: string) => dayFormat.format(new Date(iso))

export default function AccountPage() {
  const router = useRouter()
  const [account, setAccount] = useState<Account>()
  const [error, setError] = useState('')

  async function load() {
    try {
      const [me, { orders }, subscriptions, downloads] = await Promise.all([
        shop.me(),
        shop.orders.list({ perPage: 20 }),
        shop.subscriptions.list(),
        shop.downloads.list()
      ])
      setAccount({ me, orders, subscriptions, downloads })
    } catch (cause) {
      if (isShopError(cause, 'NOT_AUTHENTICATED')) router.replace('/login?next=/account')
      else setError(messageOf(cause))
    }
  }
  useEffect(() => void load(), [])

  async function end({ id, name }: OwnSubscription) {
    if (!confirm(`End ${name}? You keep access until the paid period ends.`)) return
    try {
      await shop.subscriptions.cancel(id)
      await load()
    } catch (cause) {
      setError(messageOf(cause))
    }
  }

  async function logOut() {
    await shop.logout()
    router.push('/')
  }

  if (account === undefined) return <h1>{error || 'One moment …'}</h1>
  const { me, orders, subscriptions, downloads } = account
  return (
    <>
      <h1>Hello {me.user.displayName}</h1>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <h2>Orders</h2>
      {orders.length === 0 && <p>You have no orders yet.</p>}
      <ul>
        {orders.map((order) => (
          <li key={order.id}>
            Order {order.id}, {day(order.createdAt)}: {money(order.total, order.currency)}, {order.status}
          </li>
        ))}
      </ul>
      {subscriptions.length > 0 && <h2>Subscriptions</h2>}
      <ul>
        {subscriptions.map((subscription) => (
          <li key={subscription.id}>
            {subscription.name}{' '}
            {subscription.canCancel && (
              <button type="button" className="quiet" onClick={() => end(subscription)}>
                End
              </button>
            )}
          </li>
        ))}
      </ul>
      {downloads.length > 0 && <h2>Downloads</h2>}
      <ul>
        {downloads.map(({ id, name, url }) => (
          <li key={id}>
            <a href={url}>{name}</a>
          </li>
        ))}
      </ul>
      <button type="button" className="quiet" onClick={logOut}>
        Log out
      </button>
    </>
  )
}
