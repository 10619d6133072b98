import type { WordPress } from './database.ts'

/** The address of a WordPress. */
export async function addressOf(source: WordPress): Promise<string> {
  return (await source.option('home')) ?? (await source.option('siteurl')) ?? source.prefix
}

/** The name by which the shop remembers what moved in from a WordPress. */
export async function sourceOf(source: WordPress): Promise<string> {
  return `${await addressOf(source)} ${source.prefix}`
}
