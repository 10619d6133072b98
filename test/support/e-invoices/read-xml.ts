/** An element of XML as a test reads it. */
export type Element = { name: string; attributes: Record<string, string>; text: string; children: Element[] }

/** Reads XML that has no comments, no CDATA and no empty tags, as the shop writes it. Anything else throws. */
export function readXml(source: string): Element {
  const body = source.replace(/^<\?xml [^>]*\?>\s*/, '')
  const root: Element = { name: '', attributes: {}, text: '', children: [] }
  const open = [root]
  let end = 0
  for (const found of body.matchAll(/<(\/?)([\w:]+)((?: [\w:]+="[^"<]*")*)>|([^<]+)/gy)) {
    end = found.index + found[0].length
    const [, closes, name = '', attributes = '', text] = found
    const parent = open.at(-1) ?? root
    if (text !== undefined) parent.text += unescaped(text)
    else if (closes === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element`)
    } else {
      const element: Element = { name, attributes: attributesOf(attributes), text: '', children: [] }
      parent.children.push(element)
      open.push(element)
    }
  }
  const [only] = root.children
  if (end !== body.length || open.length !== 1 || only === undefined || root.children.length !== 1)
    throw new Error(`not XML at ${end}: ${body.slice(end, end + 40)}`)
  return only
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)])
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function unescaped(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
}

/** The elements at a path such as `a/b`, each name without its prefix. */
export function allAt(from: Element, path: string): Element[] {
  return path
    .split('/')
    .reduce<Element[]>(
      (elements, name) =>
        elements.flatMap(({ children }) => children.filter((child) => child.name.replace(/^.*:/, '') === name)),
      [from]
    )
}

/** What `read` makes of the first element at a path; null without one. */
export function firstAt<T>(from: Element, path: string, read: (found: Element) => T): T | null {
  const [found] = allAt(from, path)
  return found === undefined ? null : read(found)
}

/** The text of the first element at a path; null without one. */
export function textAt(from: Element, path: string): string | null {
  return firstAt(from, path, ({ text }) => text)
}
