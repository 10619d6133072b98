import { PageNotFound } from './site.ts'
import type { Shown } from './site.ts'

type Colour = [number, number, number]

const light = { paper: [247, 237, 221], towards: [0, 0, 0] } satisfies Record<string, Colour>
const dark = { paper: [44, 33, 23], towards: [255, 255, 255] } satisfies Record<string, Colour>
/** WCAG 2.2, 1.4.3. */
const leastContrast = 4.6

/**
 * The style that replaces the pages' accent colour. The colour is made darker on light paper and lighter on dark paper until
 * text in it can be read. It has an address of its own, because the content security policy allows no inline style.
 *
 * @param colour six hexadecimal digits
 */
export function theme(colour: string): Shown {
  if (!/^[0-9a-f]{6}$/.test(colour)) throw new PageNotFound()
  const accent = [0, 2, 4].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Colour
  const css = `${rule(readable(accent, light), [255, 255, 255])}
@media (prefers-color-scheme: dark) { ${rule(readable(accent, dark), [20, 14, 8])} }
`
  return { text: css, type: 'text/css; charset=utf-8' }
}

function rule(colour: Colour, on: Colour): string {
  return `:root { --ember: ${css(colour)}; --ember-deep: ${css(colour)}; --on-ember: ${css(on)}; }`
}

const css = (colour: Colour): string => `rgb(${colour.map(Math.round).join(' ')})`

function readable(colour: Colour, { paper, towards }: typeof light): Colour {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = colour.map((part, index) => part + ((towards[index] ?? 0) - part) * share) as Colour
    if (contrast(mixed, paper) >= leastContrast) return mixed
  }
  return towards
}

function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** WCAG's relative luminance. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
