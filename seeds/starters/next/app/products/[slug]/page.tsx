import type { Product } from '@shopstead/client'
import { isShopError } from '@shopstead/client'
import type { Metadata } from 'next'
import { notFound, permanentRedirect } from 'next/navigation'
import { Picture } from '@/components/picture'
import { fresh, shop } from '@/lib/shop'
import { AddToCart } from './add-to-cart'

type Props = { params: Promise<{ slug: string }> }

async function productOf({ params }: Props): Promise<Product> {
  const { slug } = await params
  try {
    return await shop.products.get(slug, fresh)
  } catch (error) {
    if (!isShopError(error, 'NOT_FOUND')) throw error
    const to = await shop.redirects.find(`/products/${slug}`)
    if (to !== null) permanentRedirect(to)
    notFound()
  }
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const { name, seo, summary, image, slug } = await productOf(props)
  return {
    title: seo.title ?? name,
    description: seo.description ?? summary,
    alternates: { canonical: `/products/${slug}` },
    openGraph: image === null ? {} : { images: [image.url] }
  }
}

export default async function ProductPage(props: Props) {
  const product = await productOf(props)
  const { name, image, description, descriptionHtml, grants } = product
  return (
    <article className="product">
      <Picture image={image} name={name} sizes="(max-width: 40rem) 100vw, 30rem" />
      <div>
        <h1>{name}</h1>
        <AddToCart product={product} />
        {descriptionHtml ? (
          // The shop removes scripts and styles from the HTML of a description.
          <div dangerouslySetInnerHTML={{ __html: descriptionHtml }} />
        ) : (
          description.split(/\n+/).map((text) => <p key={text}>{text}</p>)
        )}
        {grants.map(({ text }) => (
          <p key={text} className="hint">
            {text}
          </p>
        ))}
      </div>
    </article>
  )
}
