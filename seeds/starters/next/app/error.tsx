'use client'

export default function ErrorPage({ reset }: { reset: () => void }) {
  return (
    <>
      <h1>The shop does not answer</h1>
      <p>Please try again in a moment.</p>
      <button type="button" onClick={reset}>
        Try again
      </button>
    </>
  )
}
