DROP TRIGGER `products_updated`;
--> statement-breakpoint
DROP TRIGGER `variations_updated`;
--> statement-breakpoint
ALTER TABLE `categories` ADD `parent_id` integer REFERENCES categories(id);--> statement-breakpoint
ALTER TABLE `categories` ADD `description` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `weight_grams` integer;--> statement-breakpoint
ALTER TABLE `variations` ADD `options` text DEFAULT '{}' NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `products_updated` AFTER UPDATE OF slug, name, description, url, type, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, published, position, weight_grams, updated_at ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_updated` AFTER UPDATE OF sku, name, options, price_minor, sale_price_minor, is_default, position, available ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_grants_inserted` AFTER INSERT ON `product_grants` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_grants_deleted` AFTER DELETE ON `product_grants` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `plans_inserted` AFTER INSERT ON `plans` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `plans_updated` AFTER UPDATE OF name ON `plans` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
