import type { Image } from '@shopstead/client'

/** A picture of the shop, which has it in several widths; the initial of the name in its place. */
export function Picture({ image, name, sizes }: { image: Image | null; name: string; sizes: string }) {
  if (image === null) return <span className="picture initial">{name.slice(0, 1).toUpperCase()}</span>
  const srcSet = image.sizes.map(({ url, width }) => `${url} ${width}w`).join(', ')
  return (
    <img
      className="picture"
      src={image.url}
      srcSet={srcSet}
      sizes={sizes}
      width={image.width}
      height={image.height}
      alt={image.alt || name}
      loading="lazy"
    />
  )
}
