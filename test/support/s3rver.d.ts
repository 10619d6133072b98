declare module 's3rver' {
  type Listed = { objects: { key: string }[]; commonPrefixes: string[]; isTruncated: boolean }
  type Listing = { delimiter?: string; prefix?: string }

  export default class S3rver {
    constructor(options: {
      port: number
      address: string
      silent: boolean
      directory: string
      configureBuckets: { name: string }[]
    })
    readonly store: { listObjects(bucket: string, options: Listing): Promise<Listed> }
    run(): Promise<{ port: number }>
    close(): Promise<void>
  }
}
