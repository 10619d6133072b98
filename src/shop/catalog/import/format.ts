import type { ImageInput } from './fields.ts'
import type { CampaignInput, PlanInput } from '../../benefits/input.ts'
import type { ShippingZone } from '../../shipping/input.ts'
import type { TaxRateInput, TaxClass } from '../../tax/input.ts'
import type { GrantSpec, OptionValues } from '../grants.ts'
import type { ProductType } from '../product-types.ts'

export type VariationInput = {
  /** Unique within its product. */
  sku: string
  name: string
  /** Its value of each option of the product; `{}` without options. */
  options: OptionValues
  priceMinor: number
  salePriceMinor: number | null
  stock: number | null
  gtin: string | null
  /** Null for the weight of the product. */
  weightGrams: number | null
  /** Exactly one variation of a product is its default. */
  isDefault: boolean
  /** Its own pictures; undefined if the file has none for it. */
  images?: ImageInput[] | undefined
}

/**
 * A product of an import file. A field that the file does not have is undefined: a new product gets the default
 * (`withDefaults`), an existing product keeps its value. Variations have the sale period of their product.
 */
export type ProductInput = {
  /** `offer`: an entry in the shape of GET /store/offers, with the price and URL that buyers see. */
  shape: 'product' | 'offer'
  slug: string
  name: string
  /** Regular price; with variations, the price of the default one. 0 if `unpriced`. */
  priceMinor: number
  /** The file has no price: a new product is created unpublished, an existing one keeps its prices. */
  unpriced?: boolean | undefined
  /** The entry is found again by its SKU before its slug, which is derived from other fields. */
  foundBySku?: boolean | undefined
  sku?: string | null | undefined
  description?: string | undefined
  /** Sanitised; null if the description has no markup. */
  descriptionHtml?: string | null | undefined
  salePriceMinor?: number | null | undefined
  saleStartsAt?: number | null | undefined
  saleEndsAt?: number | null | undefined
  type?: ProductType | undefined
  stock?: number | null | undefined
  published?: boolean | undefined
  position?: number | undefined
  weightGrams?: number | null | undefined
  taxClass?: TaxClass | undefined
  lengthMm?: number | null | undefined
  widthMm?: number | null | undefined
  heightMm?: number | null | undefined
  brand?: string | null | undefined
  gtin?: string | null | undefined
  seoTitle?: string | null | undefined
  seoDescription?: string | null | undefined
  url?: string | null | undefined
  /** Names, slugs or paths such as `Clothing > Shirts`. */
  categories?: string[] | undefined
  tags?: string[] | undefined
  images?: ImageInput[] | undefined
  variations?: VariationInput[] | undefined
  grants?: GrantSpec[] | undefined
  /** Only of an offer: false when it was sold out. */
  available?: boolean | undefined
}

export type CouponInput = {
  code: string
  /** Exactly one of `percentBps` and `amountMinor` is set. 10 percent is 1000 bps. */
  percentBps: number | null
  amountMinor: number | null
  startsAt: number | null
  endsAt: number | null
  minTotalMinor: number | null
  maxUses: number | null
  maxUsesPerCustomer: number | null
  /** Slugs. */
  products: string[]
  /** Names, slugs or paths, as in a product. */
  categories: string[]
}

export type CategoryInput = {
  slug: string
  name: string
  /** The slug of the category above it; null for none. */
  parent?: string | null | undefined
  description?: string | undefined
}

export type AffiliateInput = {
  code: string
  /** The account's email. */
  user: string
  status: 'pending' | 'active' | 'inactive' | 'rejected'
  /** Null for the shop's rate. 10 percent is 1000 bps. */
  rateBps: number | null
}

export type CatalogLists = {
  categories: CategoryInput[]
  products: ProductInput[]
  coupons: CouponInput[]
  plans: PlanInput[]
  campaigns: CampaignInput[]
  affiliates: AffiliateInput[]
  shipping: ShippingZone[]
  tax: TaxRateInput[]
}

export const emptyLists: CatalogLists = {
  categories: [],
  products: [],
  coupons: [],
  plans: [],
  campaigns: [],
  affiliates: [],
  shipping: [],
  tax: []
}

/** `folder` is the folder of the file, for pictures with a path relative to it. */
export type CatalogFile = CatalogLists & { folder?: string | undefined }

/** A product with all fields, for storing a new one and for exports. Without `position` the shop chooses it. */
export type FullProduct = {
  [Key in keyof Omit<ProductInput, 'shape' | 'position' | 'available' | 'unpriced' | 'foundBySku'>]-?: Exclude<
    ProductInput[Key],
    undefined
  >
} & { position?: number | undefined }

/** Fills in the defaults of a new product (docs/contract.md A7). */
export function withDefaults(product: ProductInput): FullProduct {
  return {
    slug: product.slug,
    name: product.name,
    priceMinor: product.priceMinor,
    position: product.position,
    sku: product.sku ?? null,
    description: product.description ?? '',
    descriptionHtml: product.descriptionHtml ?? null,
    salePriceMinor: product.salePriceMinor ?? null,
    saleStartsAt: product.saleStartsAt ?? null,
    saleEndsAt: product.saleEndsAt ?? null,
    type: product.type ?? 'physical',
    stock: product.stock ?? null,
    published: (product.published ?? true) && product.unpriced !== true,
    weightGrams: product.weightGrams ?? null,
    taxClass: product.taxClass ?? 'standard',
    lengthMm: product.lengthMm ?? null,
    widthMm: product.widthMm ?? null,
    heightMm: product.heightMm ?? null,
    brand: product.brand ?? null,
    gtin: product.gtin ?? null,
    seoTitle: product.seoTitle ?? null,
    seoDescription: product.seoDescription ?? null,
    url: product.url ?? null,
    categories: product.categories ?? [],
    tags: product.tags ?? [],
    images: product.images ?? [],
    variations: product.variations ?? [],
    grants: product.grants ?? []
  }
}
