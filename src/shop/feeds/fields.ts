/**
 * What a product feed says about one item: a product without variations, or one variation. The names and limits are those
 * of Google's product data specification (https://support.google.com/merchants/answer/7052112), which other market places
 * read too.
 */
export type FeedItem = {
  id: string
  /** The product of a variation. */
  item_group_id?: string
  title: string
  description: string
  link: string
  image_link: string
  additional_image_link: readonly string[]
  availability: 'in_stock' | 'out_of_stock'
  /** An amount with its currency, such as `12.50 EUR`. */
  price: string
  sale_price?: string
  /** Two ISO 8601 times with a slash between them. */
  sale_price_effective_date?: string
  condition: 'new'
  brand?: string
  gtin?: string
  mpn?: string
  identifier_exists: 'yes' | 'no'
  /** The path of the category, such as `Clothing > Shirts`. */
  product_type?: string
  color?: string
  size?: string
  material?: string
  pattern?: string
  /** How much one unit contains, such as `750 ml`. */
  unit_pricing_measure?: string
  /** The amount to which its price is compared, such as `1 l`. */
  unit_pricing_base_measure?: string
  /** A weight with its unit, such as `1200 g`. */
  shipping_weight?: string
  shipping: readonly FeedShipping[]
}

/** What shipping one unit to a country costs. `service` is the name of the method; empty for none. */
export type FeedShipping = { country: string; service: string; price: string }

/** The columns of the feed as text, and the order of the elements in the XML feed. */
export const feedFields = [
  'id',
  'item_group_id',
  'title',
  'description',
  'link',
  'image_link',
  'additional_image_link',
  'availability',
  'price',
  'sale_price',
  'sale_price_effective_date',
  'condition',
  'brand',
  'gtin',
  'mpn',
  'identifier_exists',
  'product_type',
  'color',
  'size',
  'material',
  'pattern',
  'unit_pricing_measure',
  'unit_pricing_base_measure',
  'shipping_weight',
  'shipping'
] as const satisfies readonly (keyof FeedItem)[]

/** The most characters of a text that is cut, and the most entries of a list. */
export const feedLimits = {
  title: 150,
  description: 5000,
  link: 2000,
  additional_image_link: 10,
  brand: 70,
  product_type: 750,
  option: 100,
  service: 100
} as const
