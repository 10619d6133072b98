import { Eta } from 'eta'

/** The templates of a folder. Names include the extension. */
export type Templates = {
  /** Escapes every value for HTML text and quoted attributes. */
  html(name: string, data: object): string
  /** Escapes nothing. */
  text(name: string, data: object): string
}

/** Opens a folder of templates; each is compiled at its first use. */
export function openTemplates(folder: string): Templates {
  const html = new Eta({ views: folder, cache: true, autoEscape: true })
  const text = new Eta({ views: folder, cache: true, autoEscape: false })
  return {
    html: (name, data) => html.render(name, data),
    text: (name, data) => text.render(name, data)
  }
}
