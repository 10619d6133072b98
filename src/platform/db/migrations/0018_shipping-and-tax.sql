DROP TRIGGER `products_inserted`;
--> statement-breakpoint
DROP TRIGGER `products_sold_out`;
--> statement-breakpoint
DROP TRIGGER `products_deleted`;
--> statement-breakpoint
DROP TRIGGER `orders_counted`;
--> statement-breakpoint
DROP TRIGGER `orders_moved`;
--> statement-breakpoint
DROP TRIGGER `orders_kept`;
--> statement-breakpoint
DROP TRIGGER `products_updated`;
--> statement-breakpoint
CREATE TABLE `shipping_countries` (
	`country` text PRIMARY KEY NOT NULL,
	`zone_id` integer NOT NULL,
	FOREIGN KEY (`zone_id`) REFERENCES `shipping_zones`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `shipping_countries_by_zone` ON `shipping_countries` (`zone_id`);--> statement-breakpoint
CREATE TABLE `shipping_methods` (
	`zone_id` integer NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`free_from_minor` integer,
	`per_kg_minor` integer,
	`max_weight_grams` integer,
	`estimate` text,
	`position` integer NOT NULL,
	PRIMARY KEY(`zone_id`, `id`),
	FOREIGN KEY (`zone_id`) REFERENCES `shipping_zones`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "shipping_methods_amount" CHECK("shipping_methods"."amount_minor" >= 0),
	CONSTRAINT "shipping_methods_free_from" CHECK("shipping_methods"."free_from_minor" >= 0),
	CONSTRAINT "shipping_methods_per_kg" CHECK("shipping_methods"."per_kg_minor" >= 0),
	CONSTRAINT "shipping_methods_max_weight" CHECK("shipping_methods"."max_weight_grams" > 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `shipping_zones` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`position` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `shipping_zones_name` ON `shipping_zones` (`name`);--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_orders` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer,
	`email` text,
	`email_key` text,
	`status` text NOT NULL,
	`currency` text NOT NULL,
	`subtotal_minor` integer NOT NULL,
	`discount_minor` integer NOT NULL,
	`shipping_minor` integer DEFAULT 0 NOT NULL,
	`shipping_method` text,
	`tax_minor` integer DEFAULT 0 NOT NULL,
	`goods_tax_minor` integer DEFAULT 0 NOT NULL,
	`tax_included` integer DEFAULT true NOT NULL,
	`vat_id` text,
	`reverse_charge` integer DEFAULT false NOT NULL,
	`total_minor` integer NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`strategy` text NOT NULL,
	`contact` text NOT NULL,
	`billing_address` text,
	`shipping_address` text,
	`notes` text,
	`return_url` text,
	`cancel_url` text,
	`public_token` text NOT NULL,
	`hold_ends_at` integer,
	`renewal_of` integer,
	`paid_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`renewal_of`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "orders_status" CHECK("__new_orders"."status" IN ('pending', 'on-hold', 'processing', 'completed', 'failed', 'cancelled', 'refunded')),
	CONSTRAINT "orders_strategy" CHECK("__new_orders"."strategy" IN ('redirect_to_store', 'token_handoff')),
	CONSTRAINT "orders_subtotal" CHECK("__new_orders"."subtotal_minor" >= 0),
	CONSTRAINT "orders_discount" CHECK("__new_orders"."discount_minor" BETWEEN 0 AND "__new_orders"."subtotal_minor"),
	CONSTRAINT "orders_shipping" CHECK("__new_orders"."shipping_minor" >= 0),
	CONSTRAINT "orders_tax" CHECK("__new_orders"."goods_tax_minor" BETWEEN 0 AND "__new_orders"."tax_minor"),
	CONSTRAINT "orders_tax_included" CHECK("__new_orders"."tax_included" IN (0, 1)),
	CONSTRAINT "orders_reverse_charge" CHECK("__new_orders"."reverse_charge" IN (0, 1)),
	CONSTRAINT "orders_total" CHECK("__new_orders"."total_minor" = "__new_orders"."subtotal_minor" - "__new_orders"."discount_minor" + "__new_orders"."shipping_minor" + (1 - "__new_orders"."tax_included") * "__new_orders"."tax_minor"),
	CONSTRAINT "orders_refunded" CHECK("__new_orders"."refunded_minor" BETWEEN 0 AND "__new_orders"."total_minor")
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_orders`("id", "user_id", "email", "email_key", "status", "currency", "subtotal_minor", "discount_minor", "total_minor", "refunded_minor", "strategy", "contact", "billing_address", "shipping_address", "notes", "return_url", "cancel_url", "public_token", "hold_ends_at", "renewal_of", "paid_at", "created_at", "updated_at") SELECT "id", "user_id", "email", "email_key", "status", "currency", "subtotal_minor", "discount_minor", "total_minor", "refunded_minor", "strategy", "contact", "billing_address", "shipping_address", "notes", "return_url", "cancel_url", "public_token", "hold_ends_at", "renewal_of", "paid_at", "created_at", "updated_at" FROM `orders`;--> statement-breakpoint
DELETE FROM sqlite_sequence WHERE name = '__new_orders';
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) SELECT '__new_orders', seq FROM sqlite_sequence WHERE name = 'orders';
--> statement-breakpoint
DROP TABLE `orders`;--> statement-breakpoint
ALTER TABLE `__new_orders` RENAME TO `orders`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `orders_public_token` ON `orders` (`public_token`);--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_completed_by_user` ON `orders` (`user_id`) WHERE status = 'completed';--> statement-breakpoint
CREATE INDEX `orders_by_status` ON `orders` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_email` ON `orders` (`email_key`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_renewal` ON `orders` (`renewal_of`) WHERE renewal_of IS NOT NULL;--> statement-breakpoint
CREATE INDEX `orders_unpaid_guests` ON `orders` (`created_at`) WHERE user_id IS NULL AND paid_at IS NULL AND (email IS NOT NULL OR contact <> '{}' OR billing_address IS NOT NULL OR shipping_address IS NOT NULL OR notes IS NOT NULL OR vat_id IS NOT NULL);--> statement-breakpoint
CREATE INDEX `orders_held` ON `orders` (`hold_ends_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `__new_products` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`url` text,
	`type` text NOT NULL,
	`price_minor` integer NOT NULL,
	`sale_price_minor` integer,
	`sale_starts_at` integer,
	`sale_ends_at` integer,
	`stock` integer,
	`published` integer NOT NULL,
	`position` integer NOT NULL,
	`weight_grams` integer,
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "products_type" CHECK("__new_products"."type" IN ('physical', 'digital')),
	CONSTRAINT "products_price" CHECK("__new_products"."price_minor" >= 0),
	CONSTRAINT "products_sale_price" CHECK("__new_products"."sale_price_minor" >= 0),
	CONSTRAINT "products_stock" CHECK("__new_products"."stock" >= 0),
	CONSTRAINT "products_published" CHECK("__new_products"."published" IN (0, 1)),
	CONSTRAINT "products_tax_class" CHECK("__new_products"."tax_class" IN ('standard', 'reduced', 'zero'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_products`("id", "slug", "name", "description", "url", "type", "price_minor", "sale_price_minor", "sale_starts_at", "sale_ends_at", "stock", "published", "position", "weight_grams", "created_at", "updated_at") SELECT "id", "slug", "name", "description", "url", "type", "price_minor", "sale_price_minor", "sale_starts_at", "sale_ends_at", "stock", "published", "position", "weight_grams", "created_at", "updated_at" FROM `products`;--> statement-breakpoint
DELETE FROM sqlite_sequence WHERE name = '__new_products';
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) SELECT '__new_products', seq FROM sqlite_sequence WHERE name = 'products';
--> statement-breakpoint
DROP TABLE `products`;--> statement-breakpoint
ALTER TABLE `__new_products` RENAME TO `products`;--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`slug`);--> statement-breakpoint
CREATE INDEX `products_listed` ON `products` (`published`,`position`,`id`);--> statement-breakpoint
CREATE TABLE `__new_order_items` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`name` text NOT NULL,
	`sku` text,
	`quantity` integer NOT NULL,
	`unit_price_minor` integer NOT NULL,
	`discount_minor` integer NOT NULL,
	`total_minor` integer NOT NULL,
	`type` text NOT NULL,
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`weight_grams` integer,
	`grants` text NOT NULL,
	`stock_taken` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_items_quantity" CHECK("__new_order_items"."quantity" > 0),
	CONSTRAINT "order_items_type" CHECK("__new_order_items"."type" IN ('physical', 'digital')),
	CONSTRAINT "order_items_tax_class" CHECK("__new_order_items"."tax_class" IN ('standard', 'reduced', 'zero')),
	CONSTRAINT "order_items_discount" CHECK("__new_order_items"."discount_minor" BETWEEN 0 AND "__new_order_items"."unit_price_minor" * "__new_order_items"."quantity"),
	CONSTRAINT "order_items_total" CHECK("__new_order_items"."total_minor" = "__new_order_items"."unit_price_minor" * "__new_order_items"."quantity" - "__new_order_items"."discount_minor"),
	CONSTRAINT "order_items_stock_taken" CHECK("__new_order_items"."stock_taken" BETWEEN 0 AND "__new_order_items"."quantity")
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_order_items`("id", "order_id", "product_id", "variation_id", "name", "quantity", "unit_price_minor", "discount_minor", "total_minor", "type", "grants", "stock_taken") SELECT "id", "order_id", "product_id", "variation_id", "name", "quantity", "unit_price_minor", "discount_minor", "total_minor", "type", "grants", "stock_taken" FROM `order_items`;--> statement-breakpoint
DELETE FROM sqlite_sequence WHERE name = '__new_order_items';
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) SELECT '__new_order_items', seq FROM sqlite_sequence WHERE name = 'order_items';
--> statement-breakpoint
DROP TABLE `order_items`;--> statement-breakpoint
ALTER TABLE `__new_order_items` RENAME TO `order_items`;--> statement-breakpoint
CREATE INDEX `order_items_by_order` ON `order_items` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `order_items_by_product` ON `order_items` (`product_id`);
--> statement-breakpoint
CREATE TRIGGER `orders_counted` AFTER INSERT ON `orders` WHEN NEW.user_id IS NOT NULL BEGIN INSERT INTO customer_order_totals (user_id, total) VALUES (NEW.user_id, 1)
          ON CONFLICT (user_id) DO UPDATE SET total = total + 1; END;
--> statement-breakpoint
CREATE TRIGGER `orders_moved` AFTER UPDATE OF user_id ON `orders` WHEN OLD.user_id IS NOT NEW.user_id BEGIN UPDATE customer_order_totals SET total = total - 1 WHERE user_id = OLD.user_id;
          INSERT INTO customer_order_totals (user_id, total) SELECT NEW.user_id, 1 WHERE NEW.user_id IS NOT NULL
          ON CONFLICT (user_id) DO UPDATE SET total = total + 1; END;
--> statement-breakpoint
CREATE TRIGGER `orders_kept` BEFORE DELETE ON `orders` BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER `products_inserted` AFTER INSERT ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_updated` AFTER UPDATE OF slug, name, description, url, type, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, published, position, weight_grams, updated_at ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_sold_out` AFTER UPDATE OF stock ON `products` WHEN (coalesce(OLD.stock, 1) > 0) <> (coalesce(NEW.stock, 1) > 0) BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_deleted` AFTER DELETE ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
