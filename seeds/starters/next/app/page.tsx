import Link from 'next/link'
import { Picture } from '@/components/picture'
import { money } from '@/lib/money'
import { fresh, shop } from '@/lib/shop'
import { site } from '@/lib/site'

type Query = { category?: string; page?: string }

export default async function Home({ searchParams }: { searchParams: Promise<Query> }) {
  const { category, page = '1' } = await searchParams
  const number = /^[1-9]\d{0,4}$/.test(page) ? Number(page) : 1
  const [categories, { products, pagination }] = await Promise.all([
    shop.categories.list(fresh),
    shop.products.list({ page: number, perPage: 24, ...(category === undefined ? {} : { category }) }, fresh)
  ])
  const to = (next: number) => `/?${new URLSearchParams({ ...(category && { category }), page: String(next) })}`
  return (
    <>
      <h1>{site.name}</h1>
      <p className="tagline">{site.tagline}</p>
      <nav className="chips" aria-label="Categories">
        <Link href="/" aria-current={category === undefined}>
          All products
        </Link>
        {categories
          .filter(({ parent }) => parent === null)
          .map(({ slug, name }) => (
            <Link key={slug} href={`/?category=${slug}`} aria-current={category === slug}>
              {name}
            </Link>
          ))}
      </nav>
      <ul className="cards">
        {products.map(({ slug, name, image, price, available }) => (
          <li key={slug}>
            <Link href={`/products/${slug}`}>
              <Picture image={image} name={name} sizes="(max-width: 40rem) 50vw, 15rem" />
              <span className="name">{name}</span>
              <span>
                {price.from && 'from '}
                {money(price.amount, price.currency)}
              </span>
              {!available && <span className="hint">Sold out</span>}
            </Link>
          </li>
        ))}
      </ul>
      {pagination.totalPages > 1 && (
        <nav className="pages" aria-label="Pages">
          {number > 1 && <Link href={to(number - 1)}>Previous page</Link>}
          {number < pagination.totalPages && <Link href={to(number + 1)}>Next page</Link>}
        </nav>
      )}
    </>
  )
}
