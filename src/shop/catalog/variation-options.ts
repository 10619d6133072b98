/** The option values of a variation, such as `{Size: "M", Colour: "Red"}`, in the order of the options. */
export type OptionValues = Record<string, string>

/** An option of a product with the values that its variations have, in their order. */
export type ProductOption = { name: string; values: string[] }

/** The options of a product, derived from its available variations. */
export function optionsOf(variations: readonly { options: OptionValues }[]): ProductOption[] {
  const names = Object.keys(variations[0]?.options ?? {})
  return names.map((name) => ({
    name,
    values: [
      ...new Set(variations.flatMap(({ options }) => (Object.hasOwn(options, name) ? [options[name] ?? ''] : [])))
    ]
  }))
}

/**
 * The index of the first variation whose options do not fit the ones before it: all variations have the same options,
 * and no two have the same values. Undefined when all fit.
 */
export function misfit(variations: readonly { options: OptionValues }[]): number | undefined {
  const names = JSON.stringify(Object.keys(variations[0]?.options ?? {}))
  const seen = new Set<string>()
  for (const [index, { options }] of variations.entries()) {
    const values = JSON.stringify(Object.values(options))
    if (JSON.stringify(Object.keys(options)) !== names) return index
    if (names !== '[]' && seen.has(values)) return index
    seen.add(values)
  }
  return undefined
}

/** The options of a product's variations from an export of another program; without options if they do not fit together. */
export function withoutMisfits(options: readonly OptionValues[]): OptionValues[] {
  return misfit(options.map((values) => ({ options: values }))) === undefined ? [...options] : options.map(() => ({}))
}
