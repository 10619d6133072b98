/**
 * The attributes that the feeds use, with their limits and forms, as Google's product data specification of November 2026
 * lists them (https://support.google.com/merchants/answer/7052112 and the page of each attribute). Written from those
 * pages, not from the code.
 */
export type Attribute = {
  /** `always`: an item without it is refused. */
  required: 'always' | 'sometimes'
  maxLength: number
  form: RegExp
  /** How often it may be there; once by default. */
  times?: number
}

const amount = /^\d+(\.\d{1,3})? [A-Z]{3}$/
const address = /^https?:\/\/[^\s]+$/
const text = /^\S.*$/s

export const attributes: Readonly<Record<string, Attribute>> = {
  id: { required: 'always', maxLength: 50, form: /^[\w.-]+$/ },
  title: { required: 'always', maxLength: 150, form: text },
  description: { required: 'always', maxLength: 5000, form: text },
  link: { required: 'always', maxLength: 2000, form: address },
  image_link: { required: 'always', maxLength: 2000, form: address },
  additional_image_link: { required: 'sometimes', maxLength: 2000, form: address, times: 10 },
  availability: { required: 'always', maxLength: 20, form: /^(in_stock|out_of_stock|preorder|backorder)$/ },
  price: { required: 'always', maxLength: 50, form: amount },
  sale_price: { required: 'sometimes', maxLength: 50, form: amount },
  sale_price_effective_date: {
    required: 'sometimes',
    maxLength: 51,
    form: /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d{3})?(Z|[+-]\d\d:?\d\d)\/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d{3})?(Z|[+-]\d\d:?\d\d)$/
  },
  condition: { required: 'sometimes', maxLength: 20, form: /^(new|refurbished|used)$/ },
  brand: { required: 'sometimes', maxLength: 70, form: text },
  gtin: { required: 'sometimes', maxLength: 50, form: /^(\d{8}|\d{12,14})$/ },
  mpn: { required: 'sometimes', maxLength: 70, form: text },
  identifier_exists: { required: 'sometimes', maxLength: 3, form: /^(yes|no)$/ },
  item_group_id: { required: 'sometimes', maxLength: 50, form: /^[\w-]+$/ },
  product_type: { required: 'sometimes', maxLength: 750, form: text },
  color: { required: 'sometimes', maxLength: 100, form: text },
  size: { required: 'sometimes', maxLength: 100, form: text },
  material: { required: 'sometimes', maxLength: 200, form: text },
  pattern: { required: 'sometimes', maxLength: 100, form: text },
  unit_pricing_measure: {
    required: 'sometimes',
    maxLength: 50,
    form: /^\d+(\.\d+)? ?(oz|lb|mg|g|kg|floz|pt|qt|gal|ml|cl|l|cbm|in|ft|yd|cm|m|sqft|sqm|ct)$/
  },
  unit_pricing_base_measure: { required: 'sometimes', maxLength: 50, form: /^\d+ ?(mg|g|kg|ml|cl|l|cbm|cm|m|sqm|ct)$/ },
  shipping_weight: { required: 'sometimes', maxLength: 50, form: /^\d+(\.\d+)? (lb|oz|g|kg)$/ },
  shipping: {
    required: 'sometimes',
    maxLength: 200,
    form: /^[A-Z]{2}:[^:,]*:[^:,]*:\d+(\.\d{1,3})? [A-Z]{3}$/,
    times: 100
  }
}
