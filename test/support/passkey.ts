import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** CBOR (RFC 8949) of what an authenticator sends: small integers, byte and text strings, and maps. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  const head = (major: number, length: number): Buffer =>
    length < 24
      ? Buffer.from([(major << 5) | length])
      : length < 256
        ? Buffer.from([(major << 5) | 24, length])
        : Buffer.from([(major << 5) | 25, length >> 8, length & 255])
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const entries = [...value].flatMap(([key, of]) => [cbor(key), cbor(of as Buffer)])
  return Buffer.concat([head(5, value.size), ...entries])
}

export type Asked = { challenge: string }
type Faults = {
  /** Another page asks for the signature. */
  origin?: string
  rpId?: string
  /** The person did not unlock the device. */
  isUnverified?: boolean
}

/** A passkey on a phone: makes and uses a key as a browser does (WebAuthn 6.3). */
export class Passkey {
  readonly id = randomBytes(32).toString('base64url')
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  private readonly origin: string
  private counter = 0

  constructor(origin: string) {
    this.origin = origin
  }

  /** What navigator.credentials.create returns, as JSON. */
  create({ challenge }: Asked, faults: Faults = {}): string {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' })
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')]
    ])
    const id = Buffer.from(this.id, 'base64url')
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cbor(key)])
    const authData = Buffer.concat([this.authData(0x40, faults), credential])
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData]
    ])
    return this.answer({
      clientDataJSON: this.clientData('webauthn.create', challenge, faults).toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url')
    })
  }

  /** What navigator.credentials.get returns, as JSON. */
  use({ challenge }: Asked, faults: Faults = {}): string {
    this.counter += 1
    const clientData = this.clientData('webauthn.get', challenge, faults)
    const authData = this.authData(0, faults)
    return this.answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.keys.privateKey).toString(
        'base64url'
      )
    })
  }

  private answer(response: object): string {
    return JSON.stringify({ id: this.id, rawId: this.id, type: 'public-key', response })
  }

  private clientData(type: string, challenge: string, { origin = this.origin }: Faults): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  }

  /** Flags: the person is there (1) and verified (4). */
  private authData(flags: number, { rpId = new URL(this.origin).hostname, isUnverified }: Faults): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | (isUnverified === true ? 1 : 5)]), counter])
  }
}
