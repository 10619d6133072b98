/**
 * A month of a small shop: what it sells, what its buyers order on the website, and the thirty tasks of the people who run it,
 * in their order. The tests of the command line and of the desk do all of them.
 */

/** The shop before its first day. */
export const monthShelf = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', stock: 20 },
    { slug: 'lamp', name: 'Lamp', price: '40.00', stock: 10 },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'voucher', name: 'Gift card', price: '25.00', type: 'gift_card' }
  ],
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }],
  shipping: [
    {
      zone: 'Germany',
      countries: ['DE'],
      methods: [
        { id: 'parcel', name: 'Parcel', amount: '4.90' },
        { id: 'pickup', name: 'Pick up in the shop', amount: '0', pickup: true }
      ]
    }
  ]
}

/** What a buyer orders on the website. Their email is the name of the order at shop.example. */
export type Purchase = {
  /** Slug and quantity of each line; a variation as SLUG/SKU. */
  items: readonly (readonly [what: string, quantity: number])[]
  pickup?: true
  /** They pay with the gift card of the task "issue a gift card as an apology" and a card. */
  byGiftCard?: true
  /** They leave the payment page. */
  unpaid?: true
  /** They typed this instead of their email. */
  email?: string
}

/** The orders of the month, by the name of the buyer. They are made after `openingTasks` and before `laterTasks`. */
export const purchases = {
  ada: { items: [['mug', 2]] },
  ben: {
    items: [
      ['lamp', 1],
      ['mug', 2]
    ]
  },
  cleo: {
    items: [
      ['mug', 1],
      ['print', 1]
    ],
    email: 'cloe@shop.example'
  },
  dora: {
    items: [
      ['lamp', 1],
      ['mug', 1]
    ]
  },
  emil: { items: [['mug', 1]] },
  fay: { items: [['mug', 3]], byGiftCard: true },
  gil: { items: [['lamp', 1]] },
  hana: { items: [['gansey/GANSEY-S', 1]] },
  ivo: { items: [['lamp', 1]] },
  jon: { items: [['lamp', 2]], unpaid: true },
  lou: { items: [['voucher', 1]] },
  mona: { items: [['mug', 4]] },
  olga: { items: [['mug', 1]], pickup: true }
} as const satisfies Record<string, Purchase>

/**
 * A task in words, and the command that does it. `{ada}` is the number of Ada's order, `{file.ext}` the path of a file,
 * `{tomorrow}` and `{nextWeek}` are days; a text in double quotes is one word.
 */
export type Task = {
  title: string
  command: string
  /** Commands of other tasks that must have been done with these orders, too. */
  given?: readonly string[]
}

/** What is done before the buyers come: the catalog, prices and one gift card. */
export const openingTasks = [
  {
    title: 'offer a new product in three sizes with a picture',
    command: 'offers add --name Gansey --price 89 --option Size=S,M,L --stock S=3,M=5,L=2 --image {gansey.jpg}'
  },
  { title: 'raise a price', command: 'offers set mug --price 13.50' },
  { title: 'take in a delivery', command: 'offers set mug --stock-add 24' },
  { title: 'bring in the list of a supplier', command: 'offers import {supplier.csv}' },
  { title: 'create a coupon for the newsletter', command: 'coupons create --code SPRING --percent 10 --max-uses 100' },
  {
    title: 'lower a price for some days',
    command: 'sales create "Spring days" --percent 20 --product lamp --from {tomorrow} --to {nextWeek}'
  },
  {
    title: 'issue a gift card as an apology',
    command: 'gift-cards issue --amount 20 --reason "late parcel" --to fay@shop.example'
  }
] as const satisfies readonly Task[]

/** What is done with the orders and at the end of the month. Nils orders by phone. */
export const laterTasks = [
  { title: 'list what is to be packed, with packing slips', command: 'orders pack --html {slips.html}' },
  { title: 'correct a wrong street', command: 'orders edit {ada} --address1 "Quay 9" --yes' },
  {
    title: 'ship an order with its tracking number',
    command: 'orders ship {ada} --carrier DHL --tracking 00340434161094042557'
  },
  { title: 'ship a part of an order', command: 'orders ship {ben} --items 2:2' },
  { title: 'hand over what a buyer picks up', command: 'orders complete {olga}' },
  {
    title: 'enter an order by phone and send its link',
    command:
      'orders create --email nils@shop.example --item lamp:1 --first-name Nils --last-name Berg --address1 "Quay 7" --postcode 20457 --city Hamburg --country DE --shipping-method parcel --mail'
  },
  { title: 'record a bank transfer', command: 'orders paid {nils}' },
  { title: 'correct a mistyped email', command: 'orders edit {cleo} --email cleo@shop.example --yes' },
  { title: 'send a receipt again', command: 'mail resend {cleo}' },
  { title: 'take a line out of a paid order', command: 'orders edit {dora} --remove 2 --yes' },
  { title: 'add something to a paid order', command: 'orders edit {emil} --add lamp:1 --yes' },
  { title: 'cancel an order that was not paid', command: 'orders cancel {jon} --yes' },
  {
    title: 'put a company on an invoice',
    command: 'orders invoice {mona} --correct --company "Slow Coast Ltd" --yes'
  },
  {
    title: 'return the money for a broken piece',
    command: 'orders refund {fay} --item 1:1 --no-restock --reason "broken in transit" --yes'
  },
  {
    title: 'return a part of the price as goodwill',
    command: 'orders refund {gil} --amount 5 --reason "late parcel" --yes'
  },
  {
    title: 'expect goods that come back',
    given: ['orders ship {ivo}'],
    command: 'orders return {ivo} --item 1:1 --yes'
  },
  { title: 'take goods back and refund them', command: 'orders return {ivo} --received --restock --yes' },
  {
    title: 'exchange a size',
    given: ['orders ship {hana}'],
    command: 'orders return {hana} --item 1:1 --exchange gansey/GANSEY-M:1 --received --restock --yes'
  },
  { title: 'block a stolen gift card', command: 'gift-cards block {cardOfLou}' },
  { title: 'find the buyers of a recalled product', command: 'orders list --product lamp' },
  { title: 'export who wants news', command: 'users export --consent marketing --csv {news.csv}' },
  {
    title: 'close the shop for a holiday',
    command: 'holiday start --until {nextWeek} --message "We are back next week."'
  },
  { title: 'hand the documents to the accountant', command: 'orders documents {documents}' }
] as const satisfies readonly Task[]

/** The thirty titles, for a table that must have each. */
export type TaskTitle = (typeof openingTasks)[number]['title'] | (typeof laterTasks)[number]['title']
