import { z } from 'zod'
import { isPrivate } from '../http/cross-site.ts'

/** Where Litestream copies the database to. */
export type Replica =
  | { type: 'file'; address: string; path: string }
  | { type: 'sftp'; address: string; host: string; user: string; path: string }
  | { type: 's3'; address: string; bucket: string; path: string; endpoint: string | null; region: string | null }

/** What an address of a replica looks like, for messages. */
export const replicaRule =
  'an absolute folder, sftp://user@host/path, or s3://bucket/path, with ?endpoint=https://… for a service other than AWS'

/** The variables with the credentials of a replica. Litestream's configuration names them and never contains a value. */
export const replicaVariables = {
  accessKeyId: 'SHOPSTEAD_REPLICA_ACCESS_KEY_ID',
  secretAccessKey: 'SHOPSTEAD_REPLICA_SECRET_ACCESS_KEY',
  keyFile: 'SHOPSTEAD_REPLICA_KEY_FILE'
} as const

/**
 * The replica at an address; undefined for an address that is not valid. Litestream's configuration is YAML with
 * variables in it, so only characters that mean nothing there are accepted.
 */
export function parseReplica(address: string): Replica | undefined {
  if (address.startsWith('/')) return isPlainPath(address) ? { type: 'file', address, path: address } : undefined
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || url.password !== '' || url.hash !== '' || !isPlainPath(url.pathname)) return undefined
  if (url.protocol === 'sftp:') return sftp(address, url)
  return url.protocol === 's3:' ? s3(address, url) : undefined
}

/** A variable with the address of a replica. */
export function replicaAddress() {
  return z.string().transform((text, context) => {
    const replica = parseReplica(text)
    if (replica !== undefined) return replica
    context.addIssue(replicaRule)
    return z.NEVER
  })
}

function sftp(address: string, { host, username, pathname, search }: URL): Replica | undefined {
  if (!/^[\w.-]+$/.test(username) || !/^[\w.:[\]-]+$/.test(host) || search !== '') return undefined
  return { type: 'sftp', address, host, user: username, path: pathname }
}

function s3(address: string, { host, username, pathname, searchParams }: URL): Replica | undefined {
  const { endpoint = null, region = null, ...others } = Object.fromEntries(searchParams)
  const isValid =
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(host) &&
    username === '' &&
    Object.keys(others).length === 0 &&
    (endpoint === null || isPrivateOrigin(endpoint)) &&
    (region === null || /^[a-z0-9-]+$/.test(region))
  return isValid ? { type: 's3', address, bucket: host, path: pathname.slice(1), endpoint, region } : undefined
}

function isPlainPath(path: string): boolean {
  return /^\/[\w./@+=-]*[\w@+=-]\/?$/.test(path) && !path.split('/').includes('..')
}

/** An origin that others cannot listen to: the replica contains everything about the buyers. */
function isPrivateOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.origin !== text || !/^[\w.:/[\]-]+$/.test(text)) return false
  return isPrivate(url)
}
