import { stringify } from 'csv-stringify/sync'
import { element, xmlHead } from '../../platform/xml.ts'
import type { Xml } from '../../platform/xml.ts'
import { feedFields } from './fields.ts'
import type { FeedItem, FeedShipping } from './fields.ts'

/** What the feed says about the shop. */
export type FeedShop = { name: string; about: string; url: string }

/** A form of the feed: what stands before, for and after its items. */
export type FeedFormat = {
  type: string
  head: (shop: FeedShop) => string
  item: (item: FeedItem) => string
  tail: string
}

/** RSS 2.0 with Google's names (https://support.google.com/merchants/answer/14987622). */
const google: FeedFormat = {
  type: 'application/xml; charset=utf-8',
  head: ({ name, about, url }) =>
    `${xmlHead}<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n` +
    `${[element('title', name), element('link', url), element('description', about)].map(({ markup }) => markup).join('')}\n`,
  item: (item) =>
    `${
      element(
        'item',
        feedFields.flatMap((field) => elements(item, field))
      ).markup
    }\n`,
  tail: '</channel></rss>\n'
}

/** Text with tabs, which other market places read too: one line for each item, after the names of the columns. */
const products: FeedFormat = {
  type: 'text/tab-separated-values; charset=utf-8',
  head: () => line([...feedFields]),
  item: (item) => line(feedFields.map((field) => cell(item, field))),
  tail: ''
}

/** The feeds by their file names. */
export const feedFormats = { 'google.xml': google, 'products.tsv': products } as const satisfies Record<
  string,
  FeedFormat
>
export type FeedName = keyof typeof feedFormats

function elements(item: FeedItem, field: keyof FeedItem): Xml[] {
  if (field === 'shipping') {
    const parts = item.shipping.map((entry) => shippingParts(entry).map(([name, value]) => element(name, value)))
    return parts.map((part) => element('g:shipping', part))
  }
  return [item[field] ?? []].flat().map((value) => element(`g:${field}`, value))
}

function shippingParts({ country, service, price }: FeedShipping): [string, string][] {
  return [
    ['g:country', country],
    ...(service === '' ? [] : ([['g:service', service]] satisfies [string, string][])),
    ['g:price', price]
  ]
}

/** Several values are separated by commas, and the parts of shipping by colons: `DE::Parcel:4.90 EUR`. */
function cell(item: FeedItem, field: keyof FeedItem): string {
  if (field === 'shipping') return item.shipping.map(shippingText).join(',')
  return [item[field] ?? []].flat().join(',')
}

function shippingText({ country, service, price }: FeedShipping): string {
  return `${country}::${service.replaceAll(/[:,]/g, ' ')}:${price}`
}

function line(cells: readonly string[]): string {
  return stringify([cells.map((text) => text.replaceAll(/[\s\p{Cc}]+/gu, ' '))], { delimiter: '\t' })
}
