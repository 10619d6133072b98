import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { watchBystanders } from './watch.ts'

const watch = watchBystanders()

function checkBystanders(): void {
  const touched = [...watch.touched]
  watch.touched.clear()
  expect(touched, 'statements that changed bystanders, or read the rows of everybody').toEqual([])
}

beforeEach(() => {
  watch.allowed = false
  watch.times.clear()
})
afterEach(checkBystanders)
afterAll(checkBystanders)
