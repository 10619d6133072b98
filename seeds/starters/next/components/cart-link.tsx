'use client'

import Link from 'next/link'
import { useCart } from '@/lib/cart'

export function CartLink() {
  const count = useCart().reduce((sum, { quantity }) => sum + quantity, 0)
  return (
    <Link href="/cart">
      Cart{' '}
      {count > 0 && (
        <span className="count" aria-label={`${count} items`}>
          {count}
        </span>
      )}
    </Link>
  )
}
