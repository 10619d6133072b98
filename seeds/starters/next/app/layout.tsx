import type { Metadata } from 'next'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { CartLink } from '@/components/cart-link'
import { Landing } from '@/components/landing'
import { site, siteUrl } from '@/lib/site'
import './style.css'

export const metadata: Metadata = {
  metadataBase: new URL(siteUrl),
  title: { default: site.name, template: `%s · ${site.name}` },
  description: site.tagline
}

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang={site.language}>
      <body>
        <Landing />
        <header>
          <Link href="/" className="brand">
            {site.name}
          </Link>
          <nav aria-label="Your account">
            <CartLink />
            <Link href="/account">Account</Link>
          </nav>
        </header>
        <main>{children}</main>
        <footer>{site.tagline}</footer>
      </body>
    </html>
  )
}
