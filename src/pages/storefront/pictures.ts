/**
 * The drawing of goods.svg for a product without its own picture: the first word that occurs in its slug or its categories
 * decides. The browser reads the same list from the page.
 */
export const pictureRules: readonly (readonly [word: string, picture: string])[] = [
  ['course', 'tools'],
  ['day', 'tools'],
  ['membership', 'badge'],
  ['subscription', 'post'],
  ['donation', 'lighthouse'],
  ['pattern', 'sheet'],
  ['sheet', 'sheet'],
  ['file', 'sheet'],
  ['postcard', 'cards'],
  ['print', 'print'],
  ['chart', 'print'],
  ['hurricane', 'lamp'],
  ['lamp-oil', 'bottle'],
  ['trimmer', 'trimmer'],
  ['tealight', 'tealight'],
  ['lantern', 'lantern'],
  ['lamp', 'lantern'],
  ['pillar', 'candle'],
  ['candle', 'candles'],
  ['mug', 'mug'],
  ['kettle', 'kettle'],
  ['bowl', 'bowls'],
  ['picnic', 'tin'],
  ['enamel', 'mug'],
  ['blanket', 'blanket'],
  ['cap', 'cap'],
  ['sock', 'socks'],
  ['gansey', 'jumper'],
  ['wool', 'jumper']
]

/** The name of the drawing for a product. */
export function pictureOf(slug: string, categories: readonly string[]): string {
  const text = `${slug} ${categories.join(' ')}`.toLowerCase()
  return pictureRules.find(([word]) => text.includes(word))?.[1] ?? 'parcel'
}
