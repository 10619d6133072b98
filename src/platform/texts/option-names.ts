type OptionProperty = 'size' | 'color' | 'material' | 'pattern'

const properties: ReadonlyMap<string, OptionProperty> = new Map([
  ['size', 'size'],
  ['größe', 'size'],
  ['color', 'color'],
  ['colour', 'color'],
  ['farbe', 'color'],
  ['material', 'material'],
  ['pattern', 'pattern'],
  ['muster', 'pattern'],
  ['taille', 'size'],
  ['pointure', 'size'],
  ['couleur', 'color'],
  ['coloris', 'color'],
  ['matière', 'material'],
  ['motif', 'pattern']
])

/** What search engines and market places call an option of a product, such as `Farbe`; they read no other properties. */
export function optionProperty(name: string): OptionProperty | undefined {
  return properties.get(name.trim().toLowerCase())
}
