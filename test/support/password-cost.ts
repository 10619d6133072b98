/** argon2id's lowest cost, for tests of something else than password hashing. */
export const lowestCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
