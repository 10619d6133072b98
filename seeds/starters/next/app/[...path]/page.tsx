import { notFound, permanentRedirect } from 'next/navigation'
import { shop } from '@/lib/shop'

type Props = { params: Promise<{ path: string[] }> }

/** An address that this site does not have: of a former shop, or of a product whose slug has changed. */
export default async function OldAddress({ params }: Props) {
  const { path } = await params
  const to = await shop.redirects.find(`/${path.join('/')}`)
  if (to !== null) permanentRedirect(to)
  notFound()
}
