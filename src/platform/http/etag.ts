/** Whether a client already has the response with this ETag. If-None-Match compares weakly (RFC 9110, 13.1.2): a proxy may have changed our tag into a weak one. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.some((tag) => tag === '*' || tag === etag)
}
