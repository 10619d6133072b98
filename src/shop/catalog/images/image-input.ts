/** A picture in an import file: `src` is a URL or a path relative to the file. Without `alt` the product's name is used. */
export type ImageInput = { src: string; alt: string }
