import type { GrantSpec } from '../schema.ts'

export type GrantInput = GrantSpec

export type VariationInput = {
  /** Unique within its product. */
  sku: string
  name: string
  priceMinor: number
  salePriceMinor: number | null
  stock: number | null
  /** Exactly one variation of a product is its default. */
  isDefault: boolean
}

/**
 * A product as a file states it. What the file says nothing of is undefined: the default when the product is new
 * (`withDefaults`), and as it was when the product exists. The sale's window is also that of its variations.
 */
export type ProductInput = {
  /** `offer`: an entry in the shape of GET /store/offers, whose price and address are what a buyer was shown. */
  shape: 'product' | 'offer'
  slug: string
  name: string
  /** Regular price; with variations, that of the default one. */
  priceMinor: number
  description?: string | undefined
  salePriceMinor?: number | null | undefined
  saleStartsAt?: number | null | undefined
  saleEndsAt?: number | null | undefined
  type?: 'physical' | 'digital' | undefined
  stock?: number | null | undefined
  published?: boolean | undefined
  position?: number | undefined
  url?: string | null | undefined
  categories?: string[] | undefined
  tags?: string[] | undefined
  variations?: VariationInput[] | undefined
  grants?: GrantInput[] | undefined
}

export type CouponInput = {
  code: string
  /** Exactly one of the two is a number: 10 percent is 1000. */
  percentBps: number | null
  amountMinor: number | null
  startsAt: number | null
  endsAt: number | null
  minTotalMinor: number | null
  maxUses: number | null
  maxUsesPerCustomer: number | null
  /** Slugs of products. */
  products: string[]
  categories: string[]
}

export type PlanInput = { slug: string; name: string; module: 'A' | 'B'; rank: number; pro: boolean }
export type CampaignInput = { slug: string; name: string }
export type AffiliateInput = {
  code: string
  /** The account's email. */
  user: string
  status: 'pending' | 'active' | 'inactive' | 'rejected'
  /** Null for the shop's own rate; 10 percent is 1000. */
  rateBps: number | null
}

export type CatalogFile = {
  products: ProductInput[]
  coupons: CouponInput[]
  plans: PlanInput[]
  campaigns: CampaignInput[]
  affiliates: AffiliateInput[]
}

/** A product with nothing left open, as a new one is stored and an export is written; `position` stays the shop's choice. */
export type FullProduct = {
  [Key in keyof Omit<ProductInput, 'shape' | 'position'>]-?: Exclude<ProductInput[Key], undefined>
} & { position?: number | undefined }

export function withDefaults(product: ProductInput): FullProduct {
  return {
    slug: product.slug,
    name: product.name,
    priceMinor: product.priceMinor,
    position: product.position,
    description: product.description ?? '',
    salePriceMinor: product.salePriceMinor ?? null,
    saleStartsAt: product.saleStartsAt ?? null,
    saleEndsAt: product.saleEndsAt ?? null,
    type: product.type ?? 'physical',
    stock: product.stock ?? null,
    published: product.published ?? true,
    url: product.url ?? null,
    categories: product.categories ?? [],
    tags: product.tags ?? [],
    variations: product.variations ?? [],
    grants: product.grants ?? []
  }
}
