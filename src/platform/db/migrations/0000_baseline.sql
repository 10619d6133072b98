CREATE TABLE `email_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`user_id` integer NOT NULL,
	`salt` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`new_email` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "email_tokens_kind" CHECK("email_tokens"."kind" IN ('verify', 'reset', 'email', 'undo')),
	CONSTRAINT "email_tokens_new_email" CHECK(("email_tokens"."kind" IN ('email', 'undo')) = ("email_tokens"."new_email" IS NOT NULL))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `email_tokens_hash` ON `email_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `email_tokens_by_user` ON `email_tokens` (`user_id`,`kind`);--> statement-breakpoint
CREATE INDEX `email_tokens_undo` ON `email_tokens` (`expires_at`) WHERE kind = 'undo' AND used_at IS NULL;--> statement-breakpoint
CREATE TABLE `registration_consents` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`marketing_opt_in` integer NOT NULL,
	`terms_accepted_at` integer,
	`privacy_accepted_at` integer,
	`recorded_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "registration_consents_marketing" CHECK("registration_consents"."marketing_opt_in" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE TABLE `registration_profiles` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`first_name` text,
	`last_name` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`remember_me` integer NOT NULL,
	`start_nonce_hash` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "sessions_remember_me" CHECK("sessions"."remember_me" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`,`last_seen_at`);--> statement-breakpoint
CREATE INDEX `sessions_by_end` ON `sessions` (`ends_at`);--> statement-breakpoint
CREATE INDEX `sessions_idle` ON `sessions` (`last_seen_at`) WHERE remember_me = 0;--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`username` text NOT NULL,
	`username_key` text NOT NULL,
	`display_name` text NOT NULL,
	`password_hash` text NOT NULL,
	`status` text NOT NULL,
	`is_admin` integer DEFAULT false NOT NULL,
	`email_verified_at` integer,
	`verification_pending` integer DEFAULT false NOT NULL,
	`first_name` text,
	`last_name` text,
	`biography` text,
	`language` text,
	`billing_email` text,
	`billing_phone` text,
	`company_name` text,
	`address` text,
	`marketing_opt_in` text DEFAULT 'no' NOT NULL,
	`marketing_opt_in_at` integer,
	`marketing_opt_in_from` text,
	`partner_opt_in` text DEFAULT 'no' NOT NULL,
	`partner_opt_in_at` integer,
	`active_at` integer,
	`dormant_mail_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "users_status" CHECK("users"."status" IN ('active', 'deactivated', 'erased')),
	CONSTRAINT "users_is_admin" CHECK("users"."is_admin" IN (0, 1)),
	CONSTRAINT "users_verification_pending" CHECK("users"."verification_pending" IN (0, 1)),
	CONSTRAINT "users_marketing_opt_in" CHECK("users"."marketing_opt_in" IN ('yes', 'no')),
	CONSTRAINT "users_marketing_opt_in_from" CHECK("users"."marketing_opt_in_from" IN ('registration', 'account', 'import', 'link')),
	CONSTRAINT "users_partner_opt_in" CHECK("users"."partner_opt_in" IN ('yes', 'no'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `users_by_activity` ON `users` (`active_at`) WHERE dormant_mail_at IS NULL;--> statement-breakpoint
CREATE INDEX `users_dormant` ON `users` (`dormant_mail_at`) WHERE dormant_mail_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_by_password_hash` ON `users` (`password_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_username_key` ON `users` (`username_key`);--> statement-breakpoint
CREATE TABLE `affiliate_clicks` (
	`affiliate_id` integer NOT NULL,
	`day` text NOT NULL,
	`campaign` text DEFAULT '' NOT NULL,
	`clicks` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `day`, `campaign`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "affiliate_clicks_positive" CHECK("affiliate_clicks"."clicks" > 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `affiliate_coupons` (
	`coupon_id` integer PRIMARY KEY NOT NULL,
	`affiliate_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`coupon_id`) REFERENCES `coupons`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `affiliate_coupons_by_affiliate` ON `affiliate_coupons` (`affiliate_id`);--> statement-breakpoint
CREATE TABLE `affiliate_customers` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`affiliate_id` integer NOT NULL,
	`campaign` text,
	`bound_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `affiliate_customers_by_affiliate` ON `affiliate_customers` (`affiliate_id`);--> statement-breakpoint
CREATE TABLE `affiliates` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`code` text NOT NULL,
	`code_key` text NOT NULL,
	`status` text NOT NULL,
	`terms_version` text,
	`terms_accepted_at` integer,
	`website` text,
	`message` text,
	`mailbox_hash` text,
	`code_hash` text,
	`successor_id` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`successor_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "affiliates_status" CHECK("affiliates"."status" IN ('pending', 'active', 'inactive', 'rejected'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `affiliates_user` ON `affiliates` (`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `affiliates_code_key` ON `affiliates` (`code_key`);--> statement-breakpoint
CREATE INDEX `affiliates_erased_mailbox` ON `affiliates` (`mailbox_hash`) WHERE mailbox_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `affiliates_erased_code` ON `affiliates` (`code_hash`) WHERE code_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `affiliates_by_successor` ON `affiliates` (`successor_id`) WHERE successor_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `commission_rates` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`affiliate_id` integer,
	`product_id` integer,
	`category_id` integer,
	`coupon_id` integer,
	`rate_bps` integer,
	`starts_at` integer NOT NULL,
	`ends_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`category_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`coupon_id`) REFERENCES `coupons`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "commission_rates_rate" CHECK("commission_rates"."rate_bps" BETWEEN 0 AND 10000),
	CONSTRAINT "commission_rates_target" CHECK(("commission_rates"."product_id" IS NOT NULL) + ("commission_rates"."category_id" IS NOT NULL) + ("commission_rates"."coupon_id" IS NOT NULL)
          BETWEEN ("commission_rates"."affiliate_id" IS NULL OR "commission_rates"."rate_bps" IS NULL) AND 1),
	CONSTRAINT "commission_rates_period" CHECK("commission_rates"."ends_at" >= "commission_rates"."starts_at")
) STRICT;
--> statement-breakpoint
CREATE INDEX `commission_rates_by_affiliate` ON `commission_rates` (`affiliate_id`,`starts_at`);--> statement-breakpoint
CREATE TABLE `visits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`affiliate_id` integer NOT NULL,
	`order_id` integer NOT NULL,
	`campaign` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `visits_order` ON `visits` (`order_id`);--> statement-breakpoint
CREATE INDEX `visits_by_affiliate` ON `visits` (`affiliate_id`,`campaign`);--> statement-breakpoint
CREATE TABLE `campaigns` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_slug` ON `campaigns` (`slug`);--> statement-breakpoint
CREATE TABLE `donations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`campaign_id` integer,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`order_id` integer,
	`order_item_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`campaign_id`) REFERENCES `campaigns`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "donations_amount" CHECK("donations"."amount_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `donations_by_user` ON `donations` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `donations_by_order` ON `donations` (`order_id`);--> statement-breakpoint
CREATE TABLE `download_permissions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer,
	`product_id` integer NOT NULL,
	`file` text NOT NULL,
	`started_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`order_id` integer,
	`order_item_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `download_permissions_by_user` ON `download_permissions` (`user_id`);--> statement-breakpoint
CREATE INDEX `download_permissions_by_order` ON `download_permissions` (`order_id`);--> statement-breakpoint
CREATE TABLE `enrolments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`course` text NOT NULL,
	`started_at` integer NOT NULL,
	`revoked_at` integer,
	`order_id` integer,
	`order_item_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `enrolments_by_user` ON `enrolments` (`user_id`);--> statement-breakpoint
CREATE INDEX `enrolments_by_order` ON `enrolments` (`order_id`);--> statement-breakpoint
CREATE TABLE `gateway_subscriptions` (
	`gateway_id` text PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	`current_period_end` integer NOT NULL,
	`ended_at` integer,
	`cancel_at_period_end` integer DEFAULT false NOT NULL,
	`reported_try` text,
	CONSTRAINT "gateway_subscriptions_cancel" CHECK("gateway_subscriptions"."cancel_at_period_end" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_by_order` ON `gateway_subscriptions` (`order_id`);--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_open` ON `gateway_subscriptions` (`gateway_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE TABLE `memberships` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`plan_id` integer NOT NULL,
	`started_at` integer NOT NULL,
	`expires_at` integer,
	`cancelled_at` integer,
	`order_id` integer,
	`order_item_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `memberships_by_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_order` ON `memberships` (`order_id`);--> statement-breakpoint
CREATE TABLE `plans` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`module` text NOT NULL,
	`rank` integer NOT NULL,
	`is_pro` integer NOT NULL,
	CONSTRAINT "plans_module" CHECK("plans"."module" IN ('A', 'B')),
	CONSTRAINT "plans_is_pro" CHECK("plans"."is_pro" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `plans_slug` ON `plans` (`slug`);--> statement-breakpoint
CREATE TABLE `subscription_invoices` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	`gateway_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_invoices_order` ON `subscription_invoices` (`order_id`);--> statement-breakpoint
CREATE INDEX `subscription_invoices_by_gateway` ON `subscription_invoices` (`gateway_id`,`period_end`);--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	`interval` text NOT NULL,
	`is_pro` integer NOT NULL,
	`started_at` integer NOT NULL,
	`current_period_end` integer NOT NULL,
	`cancel_at_period_end` integer DEFAULT false NOT NULL,
	`past_due_since` integer,
	`cancelled_at` integer,
	`gateway_id` text,
	`order_id` integer,
	`order_item_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "subscriptions_interval" CHECK("subscriptions"."interval" IN ('month', 'year')),
	CONSTRAINT "subscriptions_is_pro" CHECK("subscriptions"."is_pro" IN (0, 1)),
	CONSTRAINT "subscriptions_cancel_at_period_end" CHECK("subscriptions"."cancel_at_period_end" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE INDEX `subscriptions_by_user` ON `subscriptions` (`user_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_by_order` ON `subscriptions` (`order_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_by_gateway` ON `subscriptions` (`gateway_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_to_end` ON `subscriptions` (`gateway_id`) WHERE cancelled_at IS NOT NULL AND gateway_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `categories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`parent_id` integer,
	`description` text DEFAULT '' NOT NULL,
	`updated_to` integer,
	FOREIGN KEY (`parent_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `categories_slug` ON `categories` (`slug`);--> statement-breakpoint
CREATE TABLE `coupon_categories` (
	`coupon_id` integer NOT NULL,
	`category_id` integer NOT NULL,
	PRIMARY KEY(`coupon_id`, `category_id`),
	FOREIGN KEY (`coupon_id`) REFERENCES `coupons`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`category_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `coupon_products` (
	`coupon_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	PRIMARY KEY(`coupon_id`, `product_id`),
	FOREIGN KEY (`coupon_id`) REFERENCES `coupons`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `coupons` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`code` text NOT NULL,
	`code_key` text NOT NULL,
	`percent_bps` integer,
	`amount_minor` integer,
	`starts_at` integer,
	`ends_at` integer,
	`min_total_minor` integer,
	`max_uses` integer,
	`max_uses_per_customer` integer,
	`exclusive` integer DEFAULT false NOT NULL,
	`used` integer DEFAULT 0 NOT NULL,
	`enabled` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "coupons_kind" CHECK(("coupons"."percent_bps" IS NULL) <> ("coupons"."amount_minor" IS NULL)),
	CONSTRAINT "coupons_percent" CHECK("coupons"."percent_bps" BETWEEN 1 AND 10000),
	CONSTRAINT "coupons_amount" CHECK("coupons"."amount_minor" > 0),
	CONSTRAINT "coupons_used" CHECK("coupons"."used" >= 0 AND ("coupons"."max_uses" IS NULL OR "coupons"."used" <= "coupons"."max_uses")),
	CONSTRAINT "coupons_exclusive" CHECK("coupons"."exclusive" IN (0, 1)),
	CONSTRAINT "coupons_enabled" CHECK("coupons"."enabled" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `coupons_code_key` ON `coupons` (`code_key`);--> statement-breakpoint
CREATE TABLE `media` (
	`hash` text PRIMARY KEY NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "media_size" CHECK("media"."width" > 0 AND "media"."height" > 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `price_history` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`price_minor` integer NOT NULL,
	`sale_price_minor` integer,
	`sale_starts_at` integer,
	`sale_ends_at` integer,
	`until` integer NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `price_history_by_product` ON `price_history` (`product_id`,`variation_id`,`until`);--> statement-breakpoint
CREATE INDEX `price_history_by_time` ON `price_history` (`until`);--> statement-breakpoint
CREATE TABLE `product_categories` (
	`product_id` integer NOT NULL,
	`category_id` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`product_id`, `category_id`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`category_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_categories_by_category` ON `product_categories` (`category_id`,`product_id`);--> statement-breakpoint
CREATE TABLE `product_grants` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`product_id` integer NOT NULL,
	`spec` text NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_grants_by_product` ON `product_grants` (`product_id`,`position`);--> statement-breakpoint
CREATE TABLE `product_images` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`src` text NOT NULL,
	`folder` text,
	`alt` text NOT NULL,
	`position` integer NOT NULL,
	`media_hash` text,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`media_hash`) REFERENCES `media`(`hash`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_images_by_product` ON `product_images` (`product_id`,`variation_id`,`position`);--> statement-breakpoint
CREATE INDEX `product_images_by_media` ON `product_images` (`media_hash`);--> statement-breakpoint
CREATE INDEX `product_images_missing` ON `product_images` (`id`) WHERE "product_images"."media_hash" IS NULL;--> statement-breakpoint
CREATE TABLE `product_tags` (
	`product_id` integer NOT NULL,
	`tag` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`product_id`, `tag`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `products` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`sku` text,
	`description` text DEFAULT '' NOT NULL,
	`description_html` text,
	`url` text,
	`type` text NOT NULL,
	`price_minor` integer NOT NULL,
	`sale_price_minor` integer,
	`cost_minor` integer,
	`sale_starts_at` integer,
	`sale_ends_at` integer,
	`stock` integer,
	`published` integer NOT NULL,
	`position` integer NOT NULL,
	`weight_grams` integer,
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`length_mm` integer,
	`width_mm` integer,
	`height_mm` integer,
	`brand` text,
	`gtin` text,
	`mpn` text,
	`manufacturer` text,
	`responsible_person` text,
	`safety_info` text,
	`unit_measure` text,
	`seo_title` text,
	`seo_description` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "products_type" CHECK("products"."type" IN ('physical', 'digital', 'gift_card')),
	CONSTRAINT "products_price" CHECK("products"."price_minor" >= 0),
	CONSTRAINT "products_sale_price" CHECK("products"."sale_price_minor" >= 0),
	CONSTRAINT "products_cost" CHECK("products"."cost_minor" >= 0),
	CONSTRAINT "products_stock" CHECK("products"."stock" >= 0),
	CONSTRAINT "products_published" CHECK("products"."published" IN (0, 1)),
	CONSTRAINT "products_tax_class" CHECK("products"."tax_class" IN ('standard', 'reduced', 'zero'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`slug`);--> statement-breakpoint
CREATE INDEX `products_sku` ON `products` (`sku`);--> statement-breakpoint
CREATE INDEX `products_listed` ON `products` (`published`,`position`,`id`);--> statement-breakpoint
CREATE TABLE `sale_products` (
	`sale_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	PRIMARY KEY(`sale_id`, `product_id`),
	FOREIGN KEY (`sale_id`) REFERENCES `sales`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `sales` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`percent_bps` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "sales_percent" CHECK("sales"."percent_bps" BETWEEN 1 AND 9999),
	CONSTRAINT "sales_period" CHECK("sales"."ends_at" > "sales"."starts_at")
) STRICT;
--> statement-breakpoint
CREATE INDEX `sales_by_end` ON `sales` (`ends_at`);--> statement-breakpoint
CREATE TABLE `search_words` (
	`word` text PRIMARY KEY NOT NULL,
	`reversed` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `search_words_reversed` ON `search_words` (`reversed`);--> statement-breakpoint
CREATE TABLE `variations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`product_id` integer NOT NULL,
	`sku` text NOT NULL,
	`name` text NOT NULL,
	`options` text DEFAULT '{}' NOT NULL,
	`price_minor` integer NOT NULL,
	`sale_price_minor` integer,
	`stock` integer,
	`gtin` text,
	`mpn` text,
	`unit_measure` text,
	`weight_grams` integer,
	`is_default` integer NOT NULL,
	`position` integer NOT NULL,
	`available` integer DEFAULT true NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "variations_price" CHECK("variations"."price_minor" >= 0),
	CONSTRAINT "variations_sale_price" CHECK("variations"."sale_price_minor" >= 0),
	CONSTRAINT "variations_stock" CHECK("variations"."stock" >= 0),
	CONSTRAINT "variations_is_default" CHECK("variations"."is_default" IN (0, 1)),
	CONSTRAINT "variations_available" CHECK("variations"."available" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `variations_sku` ON `variations` (`product_id`,`sku`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`body_fingerprint` text NOT NULL,
	`buyer` text NOT NULL,
	`state` text NOT NULL,
	`owner` text NOT NULL,
	`order_id` integer,
	`status` integer,
	`body` blob,
	`set_cookies` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "idempotency_keys_state" CHECK("idempotency_keys"."state" IN ('running', 'answered'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_end` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_key` ON `idempotency_keys` (`key`);--> statement-breakpoint
CREATE TABLE `declarations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`order_id` integer,
	`contract` text NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`email_key` text,
	`item_ids` text,
	`message` text,
	`is_for_cause` integer DEFAULT false NOT NULL,
	`wanted_end` text,
	`ends_at` integer,
	`language` text NOT NULL,
	`received_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "declarations_kind" CHECK("declarations"."kind" IN ('withdrawal', 'cancellation')),
	CONSTRAINT "declarations_for_cause" CHECK("declarations"."is_for_cause" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE INDEX `declarations_by_order` ON `declarations` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `declarations_by_email` ON `declarations` (`email_key`,`id`);--> statement-breakpoint
CREATE INDEX `declarations_with_buyer` ON `declarations` (`received_at`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE TABLE `desk_invitations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`person_id` integer NOT NULL,
	`salt` text NOT NULL,
	`token_hash` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`person_id`) REFERENCES `desk_people`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `desk_invitations_hash` ON `desk_invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `desk_invitations_by_person` ON `desk_invitations` (`person_id`);--> statement-breakpoint
CREATE TABLE `desk_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`person_id` integer,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`outcome` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `desk_people`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "desk_log_outcome" CHECK("desk_log"."outcome" IN ('begun', 'done', 'refused'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `desk_log_by_person` ON `desk_log` (`person_id`,`id`);--> statement-breakpoint
CREATE TABLE `desk_passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` integer NOT NULL,
	`public_key` blob NOT NULL,
	`counter` integer NOT NULL,
	`challenge_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`person_id`) REFERENCES `desk_people`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `desk_passkeys_by_person` ON `desk_passkeys` (`person_id`);--> statement-breakpoint
CREATE TABLE `desk_people` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`removed_at` integer,
	CONSTRAINT "desk_people_role" CHECK("desk_people"."role" IN ('owner', 'orders', 'catalogue', 'reports'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `desk_people_email_key` ON `desk_people` (`email_key`);--> statement-breakpoint
CREATE TABLE `desk_sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token_hash` text NOT NULL,
	`person_id` integer NOT NULL,
	`device` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `desk_people`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `desk_sessions_hash` ON `desk_sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `desk_sessions_by_person` ON `desk_sessions` (`person_id`);--> statement-breakpoint
CREATE INDEX `desk_sessions_by_start` ON `desk_sessions` (`created_at`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`type` text NOT NULL,
	`payload` text NOT NULL,
	`by` text,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `events_by_type` ON `events` (`type`,`id`);--> statement-breakpoint
CREATE TABLE `gift_card_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`gift_card_id` integer NOT NULL,
	`kind` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`order_id` integer,
	`by` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "gift_card_entries_kind" CHECK("gift_card_entries"."kind" IN ('issued', 'sold', 'used', 'returned', 'cancelled', 'expired')),
	CONSTRAINT "gift_card_entries_amount" CHECK(CASE WHEN "gift_card_entries"."kind" IN ('issued', 'sold', 'returned') THEN "gift_card_entries"."amount_minor" > 0 ELSE "gift_card_entries"."amount_minor" < 0 END)
) STRICT;
--> statement-breakpoint
CREATE INDEX `gift_card_entries_by_card` ON `gift_card_entries` (`gift_card_id`,`id`);--> statement-breakpoint
CREATE INDEX `gift_card_entries_by_time` ON `gift_card_entries` (`at`,`kind`,`gift_card_id`,`amount_minor`);--> statement-breakpoint
CREATE TABLE `gift_cards` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`code_hash` text NOT NULL,
	`salt` text NOT NULL,
	`last_four` text NOT NULL,
	`currency` text NOT NULL,
	`issued_minor` integer NOT NULL,
	`balance_minor` integer DEFAULT 0 NOT NULL,
	`held_minor` integer DEFAULT 0 NOT NULL,
	`order_id` integer,
	`order_item_id` integer,
	`reason` text,
	`recipient_email` text,
	`recipient_key` text,
	`message` text,
	`send_at` integer,
	`mailed_at` integer,
	`language` text,
	`expires_at` integer,
	`blocked_at` integer,
	`created_at` integer NOT NULL,
	CONSTRAINT "gift_cards_issued" CHECK("gift_cards"."issued_minor" > 0),
	CONSTRAINT "gift_cards_balance" CHECK("gift_cards"."balance_minor" >= 0),
	CONSTRAINT "gift_cards_held" CHECK("gift_cards"."held_minor" BETWEEN 0 AND "gift_cards"."balance_minor")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `gift_cards_code` ON `gift_cards` (`code_hash`);--> statement-breakpoint
CREATE INDEX `gift_cards_by_order` ON `gift_cards` (`order_id`,`id`) WHERE order_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `gift_cards_by_recipient` ON `gift_cards` (`recipient_key`) WHERE recipient_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `gift_cards_to_mail` ON `gift_cards` (`send_at`) WHERE mailed_at IS NULL AND send_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `gift_cards_expiring` ON `gift_cards` (`expires_at`) WHERE balance_minor > 0 AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `customer_groups` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`percent_bps` integer,
	`shows_tax` text,
	`plan_id` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "customer_groups_percent" CHECK("customer_groups"."percent_bps" BETWEEN 1 AND 10000),
	CONSTRAINT "customer_groups_shows_tax" CHECK("customer_groups"."shows_tax" IN ('with', 'without'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `customer_groups_slug` ON `customer_groups` (`slug`);--> statement-breakpoint
CREATE TABLE `group_members` (
	`group_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`group_id`, `user_id`),
	FOREIGN KEY (`group_id`) REFERENCES `customer_groups`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `group_members_by_user` ON `group_members` (`user_id`);--> statement-breakpoint
CREATE TABLE `group_prices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`group_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`price_minor` integer NOT NULL,
	FOREIGN KEY (`group_id`) REFERENCES `customer_groups`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "group_prices_price" CHECK("group_prices"."price_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `group_prices_of_product` ON `group_prices` (`group_id`,`product_id`) WHERE variation_id IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `group_prices_of_variation` ON `group_prices` (`group_id`,`variation_id`) WHERE variation_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `group_prices_by_product` ON `group_prices` (`product_id`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`kind` text NOT NULL,
	`year` integer NOT NULL,
	`sequence` integer NOT NULL,
	`number` text NOT NULL,
	`date` text NOT NULL,
	`currency` text NOT NULL,
	`total_minor` integer NOT NULL,
	`buyer` text,
	`document` text NOT NULL,
	`correction` integer DEFAULT false NOT NULL,
	`cross_border_minor` integer DEFAULT 0 NOT NULL,
	`issued_at` integer NOT NULL,
	CONSTRAINT "invoices_kind" CHECK("invoices"."kind" IN ('invoice', 'credit_note')),
	CONSTRAINT "invoices_correction" CHECK("invoices"."correction" IN (0, 1)),
	CONSTRAINT "invoices_total" CHECK("invoices"."total_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_number` ON `invoices` (`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_sequence` ON `invoices` (`kind`,`year`,`sequence`);--> statement-breakpoint
CREATE INDEX `invoices_by_order` ON `invoices` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_date` ON `invoices` (`date`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_credited` ON `invoices` (`date`,`currency`,`total_minor`) WHERE kind = 'credit_note' AND correction = 0;--> statement-breakpoint
CREATE INDEX `invoices_cross_border` ON `invoices` (`date`,`kind`,`currency`,`cross_border_minor`) WHERE cross_border_minor > 0;--> statement-breakpoint
CREATE TABLE `mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` integer,
	`template` text NOT NULL,
	`recipient` text NOT NULL,
	`data` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`sent_at` integer,
	`last_error` text,
	FOREIGN KEY (`event_id`) REFERENCES `events`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "mails_state" CHECK("mails"."state" IN ('queued', 'sent', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`state`,`next_attempt_at`);--> statement-breakpoint
CREATE INDEX `mails_untried` ON `mails` (`attempts`,`created_at`) WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX `mails_over` ON `mails` (`created_at`) WHERE state <> 'queued';--> statement-breakpoint
CREATE INDEX `mails_by_event` ON `mails` (`event_id`);--> statement-breakpoint
CREATE TABLE `moved_rows` (
	`source` text NOT NULL,
	`kind` text NOT NULL,
	`source_id` text NOT NULL,
	`target_id` integer NOT NULL,
	`moved_at` integer NOT NULL,
	PRIMARY KEY(`source`, `kind`, `source_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `order_credits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`refund_id` integer,
	`gift_card_id` integer,
	`amount_minor` integer NOT NULL,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`refund_id`) REFERENCES `order_refunds`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_credits_state" CHECK("order_credits"."state" IN ('held', 'spent', 'returned')),
	CONSTRAINT "order_credits_source" CHECK(("order_credits"."refund_id" IS NULL) <> ("order_credits"."gift_card_id" IS NULL)),
	CONSTRAINT "order_credits_amount" CHECK("order_credits"."amount_minor" > 0 OR ("order_credits"."gift_card_id" IS NOT NULL AND "order_credits"."amount_minor" = 0))
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_credits_by_order` ON `order_credits` (`order_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `order_credits_by_refund` ON `order_credits` (`refund_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `order_credits_by_gift_card` ON `order_credits` (`gift_card_id`,`order_id`);--> statement-breakpoint
CREATE TABLE `order_refunds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	`goods_minor` integer NOT NULL,
	`reason` text,
	`state` text NOT NULL,
	`way` text DEFAULT 'payment' NOT NULL,
	`gift_card_id` integer,
	`created_at` integer NOT NULL,
	`done_at` integer,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_refunds_way" CHECK("order_refunds"."way" IN ('payment', 'order', 'gift_card')),
	CONSTRAINT "order_refunds_gift_card" CHECK(("order_refunds"."way" = 'gift_card') = ("order_refunds"."gift_card_id" IS NOT NULL)),
	CONSTRAINT "order_refunds_state" CHECK("order_refunds"."state" IN ('requested', 'done', 'failed')),
	CONSTRAINT "order_refunds_goods" CHECK("order_refunds"."goods_minor" BETWEEN 0 AND "order_refunds"."amount_minor")
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_refunds_by_order` ON `order_refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `refund_lines` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`refund_id` integer NOT NULL,
	`order_item_id` integer,
	`tax_row` integer,
	`quantity` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	`tax_minor` integer NOT NULL,
	`restock` integer,
	`released` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`refund_id`) REFERENCES `order_refunds`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_item_id`) REFERENCES `order_items`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "refund_lines_quantity" CHECK("refund_lines"."quantity" >= 0),
	CONSTRAINT "refund_lines_amount" CHECK("refund_lines"."amount_minor" >= 0),
	CONSTRAINT "refund_lines_tax" CHECK("refund_lines"."tax_minor" BETWEEN 0 AND "refund_lines"."amount_minor")
) STRICT;
--> statement-breakpoint
CREATE INDEX `refund_lines_by_refund` ON `refund_lines` (`refund_id`,`id`);--> statement-breakpoint
CREATE TABLE `customer_order_totals` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`total` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `notes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer,
	`user_id` integer,
	`text` text NOT NULL,
	`by` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "notes_subject" CHECK((order_id IS NULL) <> (user_id IS NULL))
) STRICT;
--> statement-breakpoint
CREATE INDEX `notes_by_order` ON `notes` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `notes_by_user` ON `notes` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `order_attributions` (
	`order_id` integer PRIMARY KEY NOT NULL,
	`affiliate_id` integer,
	`visit_id` integer,
	`affiliate_ref` text NOT NULL,
	`affiliate_campaign` text NOT NULL,
	`source_type` text NOT NULL,
	`utm_source` text,
	`utm_medium` text,
	`utm_campaign` text,
	`utm_content` text,
	`marketing_utm_source` text,
	`marketing_utm_medium` text,
	`marketing_utm_campaign` text,
	`marketing_utm_content` text,
	`candidates` text NOT NULL,
	`credited_by` text,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`visit_id`) REFERENCES `visits`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_attributions_source_type" CHECK("order_attributions"."source_type" IN ('referral', 'utm', 'typein')),
	CONSTRAINT "order_attributions_credited_by" CHECK("order_attributions"."credited_by" IN ('coupon', 'link', 'customer', 'operator', 'import'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_attributions_by_affiliate` ON `order_attributions` (`affiliate_id`);--> statement-breakpoint
CREATE TABLE `order_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`addition_id` integer,
	`before` text NOT NULL,
	`after` text NOT NULL,
	`by` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`addition_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_changes_by_order` ON `order_changes` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `order_coupons` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`coupon_id` integer NOT NULL,
	`code` text NOT NULL,
	`discount_minor` integer NOT NULL,
	`customer_key` text,
	`mailbox_hash` text,
	`counted` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`coupon_id`) REFERENCES `coupons`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_coupons_counted" CHECK("order_coupons"."counted" IN (0, 1)),
	CONSTRAINT "order_coupons_discount" CHECK("order_coupons"."discount_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `order_coupons_once` ON `order_coupons` (`order_id`,`coupon_id`);--> statement-breakpoint
CREATE INDEX `order_coupons_by_customer` ON `order_coupons` (`coupon_id`,`customer_key`);--> statement-breakpoint
CREATE INDEX `order_coupons_by_mailbox` ON `order_coupons` (`mailbox_hash`) WHERE mailbox_hash IS NOT NULL;--> statement-breakpoint
CREATE TABLE `order_history` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`from_status` text,
	`to_status` text NOT NULL,
	`by` text NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_history_by_order` ON `order_history` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `order_holders` (
	`order_id` integer PRIMARY KEY NOT NULL,
	`buyer` text NOT NULL,
	`cart_key` text,
	`is_guest` integer NOT NULL,
	`address_key` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_holders_by_buyer` ON `order_holders` (`buyer`);--> statement-breakpoint
CREATE INDEX `order_holders_by_address` ON `order_holders` (`address_key`);--> statement-breakpoint
CREATE TABLE `order_items` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`name` text NOT NULL,
	`sku` text,
	`quantity` integer NOT NULL,
	`unit_price_minor` integer NOT NULL,
	`list_price_minor` integer,
	`discount_minor` integer NOT NULL,
	`total_minor` integer NOT NULL,
	`type` text NOT NULL,
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`weight_grams` integer,
	`grants` text NOT NULL,
	`tax_row` integer,
	`stock_taken` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_items_quantity" CHECK("order_items"."quantity" > 0),
	CONSTRAINT "order_items_type" CHECK("order_items"."type" IN ('physical', 'digital', 'gift_card')),
	CONSTRAINT "order_items_tax_class" CHECK("order_items"."tax_class" IN ('standard', 'reduced', 'zero')),
	CONSTRAINT "order_items_discount" CHECK("order_items"."discount_minor" >= 0),
	CONSTRAINT "order_items_total" CHECK("order_items"."total_minor" + "order_items"."discount_minor" = "order_items"."unit_price_minor" * "order_items"."quantity"
        OR ("order_items"."list_price_minor" IS NOT NULL AND abs("order_items"."total_minor" + "order_items"."discount_minor" - "order_items"."unit_price_minor" * "order_items"."quantity") < 100 * "order_items"."quantity")),
	CONSTRAINT "order_items_stock_taken" CHECK("order_items"."stock_taken" BETWEEN 0 AND "order_items"."quantity")
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_items_by_order` ON `order_items` (`order_id`,`id`,`product_id`,`variation_id`,`quantity`,`total_minor`);--> statement-breakpoint
CREATE INDEX `order_items_by_product` ON `order_items` (`product_id`);--> statement-breakpoint
CREATE TABLE `order_taxes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`category` text DEFAULT 'taxed' NOT NULL,
	`name` text NOT NULL,
	`country` text NOT NULL,
	`region` text NOT NULL,
	`destination` text DEFAULT '' NOT NULL,
	`rate_millionths` integer NOT NULL,
	`base_minor` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_taxes_category" CHECK("order_taxes"."category" IN ('taxed', 'zero', 'supply', 'reverse_charge', 'export', 'outside', 'small_business', 'voucher', 'none')),
	CONSTRAINT "order_taxes_base" CHECK("order_taxes"."base_minor" >= 0),
	CONSTRAINT "order_taxes_amount" CHECK("order_taxes"."amount_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_taxes_by_order` ON `order_taxes` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `orders` (
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
	`list_shipping_minor` integer,
	`renewal_shipping_minor` integer,
	`tax_minor` integer DEFAULT 0 NOT NULL,
	`goods_tax_minor` integer DEFAULT 0 NOT NULL,
	`tax_included` integer DEFAULT true NOT NULL,
	`total_minor` integer NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`strategy` text NOT NULL,
	`contact` text NOT NULL,
	`billing_address` text,
	`shipping_address` text,
	`notes` text,
	`gift_recipient` text,
	`vat_id` text,
	`vat_check` text,
	`buyer_reference` text,
	`language` text,
	`return_url` text,
	`cancel_url` text,
	`public_token` text NOT NULL,
	`hold_ends_at` integer,
	`renewal_of` integer,
	`added_to` integer,
	`paid_at` integer,
	`delivery_consent_at` integer,
	`card_fingerprint` text,
	`card_country` text,
	`ip_country` text,
	`imported` integer DEFAULT false NOT NULL,
	`imported_record` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`renewal_of`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`added_to`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "orders_status" CHECK("orders"."status" IN ('pending', 'on-hold', 'processing', 'completed', 'failed', 'cancelled', 'refunded')),
	CONSTRAINT "orders_strategy" CHECK("orders"."strategy" IN ('redirect_to_store', 'token_handoff')),
	CONSTRAINT "orders_subtotal" CHECK("orders"."subtotal_minor" >= 0),
	CONSTRAINT "orders_discount" CHECK("orders"."discount_minor" BETWEEN 0 AND "orders"."subtotal_minor"),
	CONSTRAINT "orders_shipping" CHECK("orders"."shipping_minor" >= 0),
	CONSTRAINT "orders_tax" CHECK("orders"."goods_tax_minor" BETWEEN 0 AND "orders"."tax_minor"),
	CONSTRAINT "orders_imported" CHECK("orders"."imported" IN (0, 1)),
	CONSTRAINT "orders_tax_included" CHECK("orders"."tax_included" IN (0, 1)),
	CONSTRAINT "orders_total" CHECK("orders"."total_minor" = "orders"."subtotal_minor" - "orders"."discount_minor" + "orders"."shipping_minor" + (1 - "orders"."tax_included") * "orders"."tax_minor"),
	CONSTRAINT "orders_refunded" CHECK("orders"."refunded_minor" BETWEEN 0 AND "orders"."total_minor")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_public_token` ON `orders` (`public_token`);--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_completed_by_user` ON `orders` (`user_id`) WHERE status = 'completed';--> statement-breakpoint
CREATE INDEX `orders_by_status` ON `orders` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_email` ON `orders` (`email_key`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_renewal` ON `orders` (`renewal_of`) WHERE renewal_of IS NOT NULL;--> statement-breakpoint
CREATE INDEX `orders_by_addition` ON `orders` (`added_to`) WHERE added_to IS NOT NULL;--> statement-breakpoint
CREATE INDEX `orders_paid` ON `orders` (`paid_at`,`currency`,`subtotal_minor`,`discount_minor`,`shipping_minor`,`tax_minor`,`total_minor`,`refunded_minor`,`imported`) WHERE paid_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `orders_by_time` ON `orders` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_unpaid_guests` ON `orders` (`created_at`) WHERE user_id IS NULL AND paid_at IS NULL AND (email IS NOT NULL OR contact <> '{}' OR billing_address IS NOT NULL OR shipping_address IS NOT NULL OR notes IS NOT NULL OR gift_recipient IS NOT NULL OR vat_id IS NOT NULL OR vat_check IS NOT NULL OR buyer_reference IS NOT NULL OR imported_record IS NOT NULL);--> statement-breakpoint
CREATE INDEX `orders_paid_guests` ON `orders` (`created_at`) WHERE user_id IS NULL AND paid_at IS NOT NULL AND (email IS NOT NULL OR contact <> '{}' OR billing_address IS NOT NULL OR shipping_address IS NOT NULL OR notes IS NOT NULL OR gift_recipient IS NOT NULL OR vat_id IS NOT NULL OR vat_check IS NOT NULL OR buyer_reference IS NOT NULL OR imported_record IS NOT NULL);--> statement-breakpoint
CREATE INDEX `orders_held` ON `orders` (`hold_ends_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `gateway_customers` (
	`user_id` integer NOT NULL,
	`gateway` text NOT NULL,
	`livemode` integer NOT NULL,
	`customer_id` text,
	`create_key` text NOT NULL,
	`email` text NOT NULL,
	`details` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `gateway`, `livemode`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "gateway_customers_gateway" CHECK("gateway_customers"."gateway" IN ('stripe', 'sandbox')),
	CONSTRAINT "gateway_customers_livemode" CHECK("gateway_customers"."livemode" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE TABLE `payment_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`gateway` text NOT NULL,
	`kind` text NOT NULL,
	`token` text NOT NULL,
	`create_key` text NOT NULL,
	`confirm_key` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`livemode` integer NOT NULL,
	`object_id` text,
	`payment_intent_id` text,
	`url` text,
	`gateway_status` text,
	`outcome` text,
	`discount_coupon_id` text,
	`expires_at` integer,
	`settled_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "payment_attempts_gateway" CHECK("payment_attempts"."gateway" IN ('stripe', 'sandbox', 'manual', 'none')),
	CONSTRAINT "payment_attempts_kind" CHECK("payment_attempts"."kind" IN ('checkout_session', 'payment_intent', 'invoice', 'manual', 'none')),
	CONSTRAINT "payment_attempts_outcome" CHECK("payment_attempts"."outcome" IN ('paid', 'failed', 'expired', 'abandoned')),
	CONSTRAINT "payment_attempts_amount" CHECK("payment_attempts"."amount_minor" >= 0),
	CONSTRAINT "payment_attempts_livemode" CHECK("payment_attempts"."livemode" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `payment_attempts_token` ON `payment_attempts` (`token`);--> statement-breakpoint
CREATE UNIQUE INDEX `payment_attempts_object` ON `payment_attempts` (`object_id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_by_intent` ON `payment_attempts` (`payment_intent_id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_by_order` ON `payment_attempts` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_open` ON `payment_attempts` (`updated_at`) WHERE outcome IS NULL;--> statement-breakpoint
CREATE INDEX `payment_attempts_by_discount` ON `payment_attempts` (`id`) WHERE discount_coupon_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `payment_warnings` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer,
	`kind` text NOT NULL,
	`object_id` text NOT NULL,
	`message` text NOT NULL,
	`created_at` integer NOT NULL,
	`resolved_at` integer,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `payment_warnings_once` ON `payment_warnings` (`kind`,`object_id`);--> statement-breakpoint
CREATE INDEX `payment_warnings_open` ON `payment_warnings` (`created_at`) WHERE resolved_at IS NULL;--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`attempt_id` integer,
	`order_refund_id` integer,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`gateway_key` text NOT NULL,
	`gateway_refund_id` text,
	`state` text NOT NULL,
	`by` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`attempt_id`) REFERENCES `payment_attempts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_refund_id`) REFERENCES `order_refunds`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "refunds_state" CHECK("refunds"."state" IN ('requested', 'done', 'failed')),
	CONSTRAINT "refunds_amount" CHECK("refunds"."amount_minor" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `refunds_by_order` ON `refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `refunds_by_attempt` ON `refunds` (`attempt_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_by_order_refund` ON `refunds` (`order_refund_id`);--> statement-breakpoint
CREATE INDEX `refunds_open` ON `refunds` (`id`) WHERE state = 'requested';--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_gateway_refund` ON `refunds` (`gateway_refund_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_gateway_key` ON `refunds` (`gateway_key`);--> statement-breakpoint
CREATE TABLE `webhook_inbox` (
	`event_id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`object_id` text,
	`outcome` text NOT NULL,
	`event_created_at` integer NOT NULL,
	`applied_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_inbox_by_time` ON `webhook_inbox` (`applied_at`);--> statement-breakpoint
CREATE TABLE `webhook_probes` (
	`token` text PRIMARY KEY NOT NULL,
	`deliveries` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `webhook_signatures` (
	`id` integer PRIMARY KEY NOT NULL,
	`refused` integer NOT NULL,
	`refused_since_accepted` integer NOT NULL,
	`refused_at` integer,
	`accepted_at` integer,
	CONSTRAINT "webhook_signatures_one" CHECK("webhook_signatures"."id" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `redirects` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`path` text NOT NULL,
	`product_id` integer,
	`category_id` integer,
	`target` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`category_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "redirects_one_target" CHECK(("redirects"."product_id" IS NOT NULL) + ("redirects"."category_id" IS NOT NULL) + ("redirects"."target" IS NOT NULL) = 1)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `redirects_path` ON `redirects` (`path`);--> statement-breakpoint
CREATE INDEX `redirects_by_product` ON `redirects` (`product_id`);--> statement-breakpoint
CREATE INDEX `redirects_by_category` ON `redirects` (`category_id`);--> statement-breakpoint
CREATE TABLE `commission_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`affiliate_id` integer NOT NULL,
	`referral_id` integer,
	`payout_id` integer,
	`kind` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`referral_id`) REFERENCES `referrals`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`payout_id`) REFERENCES `payouts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "commission_entries_kind" CHECK("commission_entries"."kind" IN ('earned', 'taken_back', 'bonus', 'paid_out'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `commission_entries_by_referral` ON `commission_entries` (`referral_id`,`id`);--> statement-breakpoint
CREATE INDEX `commission_entries_by_payout` ON `commission_entries` (`payout_id`,`id`);--> statement-breakpoint
CREATE TABLE `commission_totals` (
	`affiliate_id` integer NOT NULL,
	`currency` text NOT NULL,
	`kind` text NOT NULL,
	`amount_minor` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `currency`, `kind`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `lost_payouts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`payout_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`record` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `lost_payouts_payout` ON `lost_payouts` (`payout_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `payout_failures` (
	`payout_id` integer PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`recorded_by` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`payout_id`) REFERENCES `payouts`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `payouts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`affiliate_id` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`reference` text,
	`paid_by` text NOT NULL,
	`seller` text NOT NULL,
	`payee` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "payouts_amount" CHECK("payouts"."amount_minor" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `payouts_by_affiliate` ON `payouts` (`affiliate_id`,`id`);--> statement-breakpoint
CREATE TABLE `referral_lines` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`referral_id` integer NOT NULL,
	`order_item_id` integer NOT NULL,
	`base_minor` integer NOT NULL,
	`rate_bps` integer NOT NULL,
	`source` text NOT NULL,
	`rate_id` integer,
	`commission_minor` integer NOT NULL,
	`taken_back_minor` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`referral_id`) REFERENCES `referrals`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`rate_id`) REFERENCES `commission_rates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "referral_lines_source" CHECK("referral_lines"."source" IN ('excluded', 'coupon', 'product', 'category', 'affiliate', 'shop', 'import')),
	CONSTRAINT "referral_lines_rate" CHECK("referral_lines"."rate_bps" BETWEEN 0 AND 10000),
	CONSTRAINT "referral_lines_taken_back" CHECK("referral_lines"."taken_back_minor" BETWEEN 0 AND "referral_lines"."commission_minor")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `referral_lines_by_referral` ON `referral_lines` (`referral_id`,`order_item_id`);--> statement-breakpoint
CREATE TABLE `referral_totals` (
	`affiliate_id` integer NOT NULL,
	`day` text NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`orders` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `day`, `currency`, `status`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `referrals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`affiliate_id` integer NOT NULL,
	`order_id` integer NOT NULL,
	`visit_id` integer NOT NULL,
	`status` text NOT NULL,
	`rate_bps` integer,
	`shop_rate_bps` integer NOT NULL,
	`order_cap_minor` integer,
	`month_cap_minor` integer,
	`new_customers_only` integer DEFAULT false NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`rejected_for` text,
	`review` text,
	`accepted_at` integer,
	`day` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`visit_id`) REFERENCES `visits`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "referrals_status" CHECK("referrals"."status" IN ('pending', 'unpaid', 'paid', 'rejected')),
	CONSTRAINT "referrals_amount" CHECK("referrals"."amount_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `referrals_order` ON `referrals` (`order_id`);--> statement-breakpoint
CREATE INDEX `referrals_by_affiliate` ON `referrals` (`affiliate_id`,`id`);--> statement-breakpoint
CREATE INDEX `referrals_by_status` ON `referrals` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `identity` (
	`id` integer PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "identity_one_row" CHECK("identity"."id" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `modules` (
	`name` text PRIMARY KEY NOT NULL,
	`enabled` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "modules_enabled" CHECK("modules"."enabled" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE TABLE `revisions` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `order_returns` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`state` text NOT NULL,
	`asked_by` text NOT NULL,
	`lines` text NOT NULL,
	`exchange` text NOT NULL,
	`addition_id` integer,
	`created_at` integer NOT NULL,
	`received_at` integer,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`addition_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_returns_state" CHECK("order_returns"."state" IN ('expected', 'received', 'dropped')),
	CONSTRAINT "order_returns_asked_by" CHECK("order_returns"."asked_by" IN ('operator', 'buyer'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_returns_by_order` ON `order_returns` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `order_returns_expected` ON `order_returns` (`id`) WHERE state = 'expected';--> statement-breakpoint
CREATE TABLE `shipment_items` (
	`shipment_id` integer NOT NULL,
	`order_item_id` integer NOT NULL,
	`quantity` integer NOT NULL,
	PRIMARY KEY(`shipment_id`, `order_item_id`),
	FOREIGN KEY (`shipment_id`) REFERENCES `shipments`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_item_id`) REFERENCES `order_items`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "shipment_items_quantity" CHECK("shipment_items"."quantity" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `shipment_items_by_item` ON `shipment_items` (`order_item_id`);--> statement-breakpoint
CREATE TABLE `shipments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`carrier` text,
	`tracking` text,
	`url` text,
	`by` text NOT NULL,
	`shipped_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `shipments_by_order` ON `shipments` (`order_id`,`id`);--> statement-breakpoint
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
	`pickup` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`zone_id`, `id`),
	FOREIGN KEY (`zone_id`) REFERENCES `shipping_zones`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "shipping_methods_pickup" CHECK("shipping_methods"."pickup" IN (0, 1)),
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
CREATE TABLE `tax_rates` (
	`country` text NOT NULL,
	`region` text NOT NULL,
	`class` text NOT NULL,
	`name` text NOT NULL,
	`rate_millionths` integer NOT NULL,
	PRIMARY KEY(`country`, `region`, `class`),
	CONSTRAINT "tax_rates_class" CHECK("tax_rates"."class" IN ('standard', 'reduced', 'zero')),
	CONSTRAINT "tax_rates_rate" CHECK("tax_rates"."rate_millionths" BETWEEN 0 AND 1000000)
) STRICT;
--> statement-breakpoint
CREATE TABLE `vat_checks` (
	`vat_id` text PRIMARY KEY NOT NULL,
	`outcome` text NOT NULL,
	`name` text,
	`address` text,
	`consultation` text,
	`checked_at` integer NOT NULL,
	CONSTRAINT "vat_checks_outcome" CHECK("vat_checks"."outcome" IN ('confirmed', 'not_registered', 'unavailable'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `vat_checks_by_time` ON `vat_checks` (`checked_at`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`endpoint_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer NOT NULL,
	`last_status` integer,
	`last_error` text,
	`delivered_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `webhook_endpoints`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `events`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "webhook_deliveries_state" CHECK("webhook_deliveries"."state" IN ('queued', 'delivered', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_once` ON `webhook_deliveries` (`endpoint_id`,`event_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`event_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_state` ON `webhook_deliveries` (`state`,`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint_id`,CASE attempts WHEN 0 THEN 0 ELSE next_attempt_at END) WHERE state = 'queued';--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`url` text NOT NULL,
	`types` text,
	`secret` text NOT NULL,
	`old_secrets` text,
	`full` integer DEFAULT false NOT NULL,
	`active` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "webhook_endpoints_active" CHECK("webhook_endpoints"."active" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_endpoints_url` ON `webhook_endpoints` (`url`);
--> statement-breakpoint
CREATE VIRTUAL TABLE `products_search`
USING fts5(name, tags, labels, description, keys, content = '', contentless_delete = 1,
  tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3');
--> statement-breakpoint
INSERT INTO `revisions` (`name`, `value`) VALUES ('settings', 1), ('catalog', 1);
--> statement-breakpoint
INSERT INTO `identity` (`id`, `shop_id`, `created_at`) VALUES (1, lower(hex(randomblob(8))), unixepoch() * 1000);
--> statement-breakpoint
CREATE TRIGGER `settings_inserted` AFTER INSERT ON `settings` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `settings_updated` AFTER UPDATE ON `settings` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `settings_deleted` AFTER DELETE ON `settings` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `modules_inserted` AFTER INSERT ON `modules` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `modules_updated` AFTER UPDATE ON `modules` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `referrals_added_up` AFTER INSERT ON `referrals` BEGIN INSERT INTO referral_totals (affiliate_id, day, currency, status, orders, amount_minor)
          VALUES (NEW.affiliate_id, NEW.day, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor; END;
--> statement-breakpoint
CREATE TRIGGER `referrals_added_up_again` AFTER UPDATE OF status, amount_minor, affiliate_id ON `referrals` BEGIN UPDATE referral_totals SET orders = orders - 1, amount_minor = amount_minor - OLD.amount_minor
          WHERE affiliate_id = OLD.affiliate_id AND day = OLD.day AND currency = OLD.currency
            AND status = OLD.status;
          INSERT INTO referral_totals (affiliate_id, day, currency, status, orders, amount_minor)
          VALUES (NEW.affiliate_id, NEW.day, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor; END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_added_up` AFTER INSERT ON `commission_entries` BEGIN INSERT INTO commission_totals (affiliate_id, currency, kind, amount_minor)
          VALUES (NEW.affiliate_id, NEW.currency, NEW.kind, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET amount_minor = amount_minor + excluded.amount_minor; END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_unchanged` BEFORE UPDATE ON `commission_entries` BEGIN SELECT RAISE(ABORT, 'the entries of the commission ledger are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_kept` BEFORE DELETE ON `commission_entries` BEGIN SELECT RAISE(ABORT, 'the entries of the commission ledger are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `payouts_unchanged` BEFORE UPDATE ON `payouts` WHEN NEW.payee IS NOT NULL OR (NEW.id, NEW.affiliate_id, NEW.amount_minor, NEW.currency, NEW.reference, NEW.paid_by, NEW.seller, NEW.created_at) IS NOT (OLD.id, OLD.affiliate_id, OLD.amount_minor, OLD.currency, OLD.reference, OLD.paid_by, OLD.seller, OLD.created_at) BEGIN SELECT RAISE(ABORT, 'payouts are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `payouts_kept` BEFORE DELETE ON `payouts` BEGIN SELECT RAISE(ABORT, 'payouts are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `payout_failures_unchanged` BEFORE UPDATE ON `payout_failures` BEGIN SELECT RAISE(ABORT, 'failures of payouts are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `payout_failures_kept` BEFORE DELETE ON `payout_failures` BEGIN SELECT RAISE(ABORT, 'failures of payouts are append-only'); END;
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
CREATE TRIGGER `order_history_unchanged` BEFORE UPDATE ON `order_history` BEGIN SELECT RAISE(ABORT, 'the audit rows are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `order_history_kept` BEFORE DELETE ON `order_history` BEGIN SELECT RAISE(ABORT, 'the audit rows are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `order_credits_hold_card` AFTER INSERT ON `order_credits` WHEN NEW.gift_card_id IS NOT NULL BEGIN UPDATE gift_cards SET held_minor = held_minor + (NEW.state = 'held') * NEW.amount_minor WHERE id = NEW.gift_card_id; END;
--> statement-breakpoint
CREATE TRIGGER `order_credits_held_card` AFTER UPDATE OF state, amount_minor ON `order_credits` WHEN NEW.gift_card_id IS NOT NULL BEGIN UPDATE gift_cards SET held_minor = held_minor - (OLD.state = 'held') * OLD.amount_minor + (NEW.state = 'held') * NEW.amount_minor WHERE id = NEW.gift_card_id; END;
--> statement-breakpoint
CREATE TRIGGER `invoices_gapless` BEFORE INSERT ON `invoices` WHEN NEW.sequence <> max(
      1 + (SELECT coalesce(max(sequence), 0) FROM invoices WHERE kind = NEW.kind AND year = NEW.year),
      coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE key = 'invoice.firstNumber'), 1)) BEGIN SELECT RAISE(ABORT, 'the numbers of invoices have no gaps'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_one_at_a_time` BEFORE INSERT ON `invoices` WHEN NEW.kind = 'invoice' AND 0 < (SELECT coalesce(sum(iif(kind = 'invoice', total_minor, -total_minor)), 0) FROM invoices WHERE order_id = NEW.order_id) BEGIN SELECT RAISE(ABORT, 'an order has one invoice at a time'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_unchanged` BEFORE UPDATE OF id, order_id, kind, year, sequence, number, date, currency, total_minor, document, correction, cross_border_minor, issued_at ON `invoices` BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_buyer_unchanged` BEFORE UPDATE OF buyer ON `invoices` WHEN NEW.buyer IS NOT NULL BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_kept` BEFORE DELETE ON `invoices` BEGIN SELECT RAISE(ABORT, 'invoices are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER `gift_card_entries_added_up` AFTER INSERT ON `gift_card_entries` BEGIN UPDATE gift_cards SET balance_minor = balance_minor + NEW.amount_minor WHERE id = NEW.gift_card_id; END;
--> statement-breakpoint
CREATE TRIGGER `gift_card_entries_unchanged` BEFORE UPDATE ON `gift_card_entries` BEGIN SELECT RAISE(ABORT, 'the entries of gift cards are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `gift_card_entries_kept` BEFORE DELETE ON `gift_card_entries` BEGIN SELECT RAISE(ABORT, 'the entries of gift cards are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `products_inserted` AFTER INSERT ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_updated` AFTER UPDATE OF slug, name, sku, description, description_html, url, type, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, published, position, weight_grams, length_mm, width_mm, height_mm, brand, gtin, mpn, manufacturer, responsible_person, safety_info, unit_measure, seo_title, seo_description, updated_at ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_sold_out` AFTER UPDATE OF stock ON `products` WHEN (coalesce(OLD.stock, 1) > 0) <> (coalesce(NEW.stock, 1) > 0) BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_repriced` AFTER UPDATE OF price_minor, sale_price_minor, sale_starts_at, sale_ends_at ON `products` WHEN OLD.price_minor IS NOT NEW.price_minor OR OLD.sale_price_minor IS NOT NEW.sale_price_minor OR OLD.sale_starts_at IS NOT NEW.sale_starts_at OR OLD.sale_ends_at IS NOT NEW.sale_ends_at BEGIN INSERT INTO price_history (product_id, variation_id, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, until) VALUES (OLD.id, NULL, OLD.price_minor, OLD.sale_price_minor, OLD.sale_starts_at, OLD.sale_ends_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)); END;
--> statement-breakpoint
CREATE TRIGGER `products_rescheduled` AFTER UPDATE OF sale_starts_at, sale_ends_at ON `products` WHEN OLD.sale_starts_at IS NOT NEW.sale_starts_at OR OLD.sale_ends_at IS NOT NEW.sale_ends_at BEGIN INSERT INTO price_history (product_id, variation_id, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, until) SELECT OLD.id, id, price_minor, sale_price_minor, OLD.sale_starts_at, OLD.sale_ends_at, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM variations WHERE product_id = OLD.id; END;
--> statement-breakpoint
CREATE TRIGGER `variations_repriced` AFTER UPDATE OF price_minor, sale_price_minor ON `variations` WHEN OLD.price_minor IS NOT NEW.price_minor OR OLD.sale_price_minor IS NOT NEW.sale_price_minor BEGIN INSERT INTO price_history (product_id, variation_id, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, until) SELECT id, OLD.id, OLD.price_minor, OLD.sale_price_minor, sale_starts_at, sale_ends_at, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM products WHERE id = OLD.product_id; END;
--> statement-breakpoint
CREATE TRIGGER `products_deleted` AFTER DELETE ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_inserted` AFTER INSERT ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_updated` AFTER UPDATE OF sku, name, options, price_minor, sale_price_minor, gtin, mpn, unit_measure, weight_grams, is_default, position, available ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_sold_out` AFTER UPDATE OF stock ON `variations` WHEN OLD.stock IS NULL OR NEW.stock IS NULL OR (OLD.stock > 0) <> (NEW.stock > 0) BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_deleted` AFTER DELETE ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `categories_updated` AFTER UPDATE ON `categories` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_categories_inserted` AFTER INSERT ON `product_categories` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_categories_deleted` AFTER DELETE ON `product_categories` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_tags_inserted` AFTER INSERT ON `product_tags` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_tags_deleted` AFTER DELETE ON `product_tags` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_grants_inserted` AFTER INSERT ON `product_grants` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_grants_deleted` AFTER DELETE ON `product_grants` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_images_inserted` AFTER INSERT ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_images_updated` AFTER UPDATE OF alt, position, media_hash ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_images_deleted` AFTER DELETE ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `plans_inserted` AFTER INSERT ON `plans` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `plans_updated` AFTER UPDATE OF name ON `plans` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
