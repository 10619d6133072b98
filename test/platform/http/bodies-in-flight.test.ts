import { describe, expect, it } from 'vitest'
import { BodiesInFlight } from '../../../src/platform/http/body.ts'

/** Bodies that together may hold 100 bytes; `refused` collects the names of those that were refused. */
function hundredBytes() {
  const refused: string[] = []
  const bodies = new BodiesInFlight(100)
  const begin = (name: string, bytes: number) => {
    const body = bodies.begin((error) => void refused.push(`${name} ${error.status} ${error.headers['Retry-After']}`))
    body.grow(bytes)
    return body
  }
  return { bodies, begin, refused }
}

describe('bodies in flight', () => {
  it('are refused past the limit, the one that began first before the others', () => {
    const { bodies, begin, refused } = hundredBytes()
    begin('first', 40)
    const second = begin('second', 40)
    begin('third', 40)
    expect(refused).toEqual(['first 503 2'])
    second.grow(30)
    expect(refused).toEqual(['first 503 2', 'second 503 2'])
    expect({ bytes: bodies.bytes, refused: bodies.refused }).toEqual({ bytes: 40, refused: 2 })
  })

  it('are refused themselves when all others are complete', () => {
    const { bodies, begin, refused } = hundredBytes()
    begin('complete', 90).complete()
    begin('late', 20)
    expect(refused).toEqual(['late 503 2'])
    expect(bodies.bytes).toBe(90)
  })

  it('count until their request ends, and once', () => {
    const { bodies, begin, refused } = hundredBytes()
    const complete = begin('complete', 90)
    complete.complete()
    expect(bodies.bytes).toBe(90)
    complete.release()
    complete.release()
    const refusedOne = begin('refused', 101)
    refusedOne.release()
    expect(bodies.bytes).toBe(0)
    expect(refused).toEqual(['refused 503 2'])
  })
})
