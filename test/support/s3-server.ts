import S3rver from 's3rver'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

/** The credentials that the server accepts. */
export const s3Credentials = {
  SHOPSTEAD_REPLICA_ACCESS_KEY_ID: 'S3RVER',
  SHOPSTEAD_REPLICA_SECRET_ACCESS_KEY: 'S3RVER'
}

/** Starts an S3-compatible server with a bucket for the test, and returns the address of a replica in it. */
export async function startS3Server(): Promise<string> {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: temporaryFolder(),
    configureBuckets: [{ name: 'shop' }]
  })
  listEveryPrefix(server.store)
  const { port } = await server.run()
  onTestFinished(() => server.close())
  return `s3://shop/replica?endpoint=http://127.0.0.1:${port}&region=us-east-1`
}

/** S3 lists a prefix whose objects are several folders below it; s3rver 3.7.1 does not. */
function listEveryPrefix(store: S3rver['store']): void {
  const listAll = store.listObjects.bind(store)
  store.listObjects = async (bucket, { delimiter = '', prefix = '', ...options }) => {
    const listed = await listAll(bucket, { ...options, prefix })
    if (delimiter === '') return listed
    const endOf = (key: string): number => key.indexOf(delimiter, prefix.length) + 1
    const commonPrefixes = listed.objects.flatMap(({ key }) => (endOf(key) === 0 ? [] : [key.slice(0, endOf(key))]))
    const objects = listed.objects.filter(({ key }) => endOf(key) === 0)
    return { ...listed, objects, commonPrefixes: [...new Set(commonPrefixes)] }
  }
}
