import { Eta } from 'eta'

/** Templates of one folder; each is read and compiled when it is first needed. Names carry their extension. */
export type Templates = {
  /** Every value is escaped for HTML, in texts and in quoted attributes. */
  html(name: string, data: object): string
  /** Nothing is escaped. */
  text(name: string, data: object): string
}

export function openTemplates(folder: string): Templates {
  const html = new Eta({ views: folder, cache: true, autoEscape: true })
  const text = new Eta({ views: folder, cache: true, autoEscape: false })
  return {
    html: (name, data) => html.render(name, data),
    text: (name, data) => text.render(name, data)
  }
}
